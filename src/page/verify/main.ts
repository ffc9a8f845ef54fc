import {
  type LineStatus,
  type StatementLine,
  type VerificationInput,
  type VerificationReport,
  verifyText,
} from './verification-report.ts';

const form = requiredElement('form', HTMLFormElement);
const bodyInput = requiredElement('body', HTMLTextAreaElement);
const noteElement = requiredElement('note', HTMLElement);
const reportElement = requiredElement('finding', HTMLElement);

/** Returns the element of the page with this id. Throws if the page has none. */
function requiredElement<T extends HTMLElement>(id: string, kind: new () => T): T {
  const found = document.getElementById(id);
  if (found instanceof kind) return found;
  throw new TypeError(`the page has no ${id}`);
}

const inputField = (id: keyof VerificationInput): HTMLInputElement => requiredElement(id, HTMLInputElement);

const readInput = (): VerificationInput => ({
  publicKey: inputField('publicKey').value.trim(),
  cluster: inputField('cluster').value.trim(),
  request: inputField('request').value.trim(),
  nonce: inputField('nonce').value.trim(),
});

/** Creates an element with text in it. Pasted text is never parsed as HTML. */
function createElement(tag: string, text: string, className = ''): HTMLElement {
  const created = document.createElement(tag);
  created.textContent = text;
  created.className = className;
  return created;
}

const STATUS_LABELS: Readonly<Record<LineStatus, string>> = {
  proven: '✓',
  signed: 'signed',
  unproven: 'not proven',
  wrong: '✗',
};

function renderLine({ name, value, explanation, status }: StatementLine): HTMLElement {
  const tableRow = createElement('tr', '', status);
  const explanationCell = createElement('td', '');
  explanationCell.append(createElement('code', value), createElement('p', explanation));
  tableRow.append(createElement('th', name), explanationCell, createElement('td', STATUS_LABELS[status]));
  return tableRow;
}

const VERDICT_TITLES: Readonly<Record<VerificationReport['verdict'], string>> = {
  proven: 'Proven',
  refused: 'Not proven',
  open: 'Whose is it?',
};

function renderReport({ verdict, explanation, lines, result }: VerificationReport): void {
  const table = document.createElement('table');
  table.append(...lines.map(renderLine));
  reportElement.className = verdict;
  reportElement.replaceChildren(createElement('h2', VERDICT_TITLES[verdict]), createElement('p', explanation));
  if (result !== null)
    reportElement.append(createElement('h3', 'The result that was signed'), createElement('pre', result));
  if (lines.length > 0) reportElement.append(createElement('h3', 'The statement, line by line'), table);
}

function verify(): void {
  noteElement.textContent = '';
  reportElement.replaceChildren();
  reportElement.className = '';
  if (bodyInput.value.trim() === '') return;
  try {
    renderReport(verifyText(bodyInput.value, readInput(), Date.now()));
  } catch (thrown) {
    noteElement.textContent = thrown instanceof Error ? thrown.message : String(thrown);
  }
}

/** Requests JSON from the gateway that served this page. */
async function fetchJson<T>(path: string): Promise<T> {
  const answer = await fetch(new URL(`api/v1/${path}`, location.href));
  if (!answer.ok) throw new Error(`${answer.status}`);
  return answer.json() as Promise<T>; // as the gateway's OpenAPI document describes it
}

async function fillFromGateway(): Promise<void> {
  try {
    const [key, health] = await Promise.all([
      fetchJson<{ readonly publicKey: string }>('pubkey'),
      fetchJson<{ readonly result: { readonly cluster: string } }>('health'),
    ]);
    inputField('publicKey').value = key.publicKey;
    inputField('cluster').value = health.result.cluster;
    verify();
  } catch {
    noteElement.textContent = 'No gateway answers at the address of this page: type the key in.';
  }
}

form.addEventListener('input', verify);
form.addEventListener('submit', (event) => {
  event.preventDefault();
  verify();
});
requiredElement('fill', HTMLButtonElement).addEventListener('click', () => void fillFromGateway());
verify(); // after going back the browser restores the input
