import { type Finding, judgeText, type Known, type Line, type Standing } from './proof.ts';

const form = the('form', HTMLFormElement);
const body = the('body', HTMLTextAreaElement);
const note = the('note', HTMLElement);
const finding = the('finding', HTMLElement);

/** An element of the page by its id, or a defect of the page. */
function the<T extends HTMLElement>(id: string, kind: new () => T): T {
  const found = document.getElementById(id);
  if (found instanceof kind) return found;
  throw new TypeError(`the page has no ${id}`);
}

const field = (id: keyof Known): HTMLInputElement => the(id, HTMLInputElement);

const known = (): Known => ({
  publicKey: field('publicKey').value.trim(),
  cluster: field('cluster').value.trim(),
  request: field('request').value.trim(),
  nonce: field('nonce').value.trim(),
});

/** An element with text in it. Whatever was pasted stays text. */
function element(tag: string, text: string, kind = ''): HTMLElement {
  const made = document.createElement(tag);
  made.textContent = text;
  made.className = kind;
  return made;
}

const STANDING: Readonly<Record<Standing, string>> = {
  proven: '✓',
  signed: 'signed',
  claimed: 'not proven',
  wrong: '✗',
};

function row({ name, value, words, standing }: Line): HTMLElement {
  const made = element('tr', '', standing);
  const said = element('td', '');
  said.append(element('code', value), element('p', words));
  made.append(element('th', name), said, element('td', STANDING[standing]));
  return made;
}

const TITLE: Readonly<Record<Finding['verdict'], string>> = {
  proven: 'Proven',
  refused: 'Not proven',
  open: 'Whose is it?',
};

function show({ verdict, words, lines, result }: Finding): void {
  const table = document.createElement('table');
  table.append(...lines.map(row));
  finding.className = verdict;
  finding.replaceChildren(element('h2', TITLE[verdict]), element('p', words));
  if (result !== null) finding.append(element('h3', 'The result that was signed'), element('pre', result));
  if (lines.length > 0) finding.append(element('h3', 'The statement, line by line'), table);
}

function judge(): void {
  note.textContent = '';
  finding.replaceChildren();
  finding.className = '';
  if (body.value.trim() === '') return;
  try {
    show(judgeText(body.value, known(), Date.now()));
  } catch (thrown) {
    note.textContent = thrown instanceof Error ? thrown.message : String(thrown);
  }
}

/** Asks the gateway that this page came from, if it came from one. */
async function ask<T>(path: string): Promise<T> {
  const answer = await fetch(new URL(`api/v1/${path}`, location.href));
  if (!answer.ok) throw new Error(`${answer.status}`);
  return answer.json() as Promise<T>; // what this gateway's document says
}

async function fill(): Promise<void> {
  try {
    const [key, health] = await Promise.all([
      ask<{ readonly publicKey: string }>('pubkey'),
      ask<{ readonly result: { readonly cluster: string } }>('health'),
    ]);
    field('publicKey').value = key.publicKey;
    field('cluster').value = health.result.cluster;
    judge();
  } catch {
    note.textContent = 'No gateway answers where this page is from: type the key in.';
  }
}

form.addEventListener('input', judge);
form.addEventListener('submit', (event) => {
  event.preventDefault();
  judge();
});
the('fill', HTMLButtonElement).addEventListener('click', () => void fill());
judge(); // a browser that goes back keeps what was typed
