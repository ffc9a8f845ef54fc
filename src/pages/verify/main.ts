import { create, elementById } from '../browser/elements.ts';
import { apiUrl } from '../browser/gateway-url.ts';
import { enableHeader } from '../browser/header.ts';
import {
  type LineStatus,
  type StatementLine,
  type VerificationInput,
  type VerificationReport,
  verifyText,
} from './verification-report.ts';

const form = elementById('form', HTMLFormElement);
const bodyInput = elementById('body', HTMLTextAreaElement);
const noteElement = elementById('note', HTMLElement);
const reportElement = elementById('finding', HTMLElement);

const inputField = (id: keyof VerificationInput): HTMLInputElement => elementById(id, HTMLInputElement);

const readInput = (): VerificationInput => ({
  publicKey: inputField('publicKey').value.trim(),
  cluster: inputField('cluster').value.trim(),
  request: inputField('request').value.trim(),
  nonce: inputField('nonce').value.trim(),
  minAgreed: inputField('minAgreed').value.trim(),
});

const STATUS_LABELS: Readonly<Record<LineStatus, string>> = {
  proven: '✓',
  signed: 'signed',
  unproven: 'not proven',
  wrong: '✗',
};

function renderLine({ name, value, explanation, status }: StatementLine): HTMLElement {
  return create(
    'tr',
    { class: status },
    create('th', {}, name),
    create('td', {}, create('code', {}, value), create('p', {}, explanation)),
    create('td', {}, STATUS_LABELS[status]),
  );
}

const VERDICT_TITLES: Readonly<Record<VerificationReport['verdict'], string>> = {
  proven: 'Proven',
  refused: 'Not proven',
  open: 'Whose is it?',
};

function renderReport({ verdict, explanation, lines, result }: VerificationReport): void {
  reportElement.className = verdict;
  reportElement.replaceChildren(create('h2', {}, VERDICT_TITLES[verdict]), create('p', {}, explanation));
  if (result !== null) reportElement.append(create('h3', {}, 'The result that was signed'), create('pre', {}, result));
  if (lines.length > 0)
    reportElement.append(
      create('h3', {}, 'The statement, line by line'),
      create('table', {}, ...lines.map(renderLine)),
    );
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
  const answer = await fetch(apiUrl(`/${path}`));
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
elementById('fill', HTMLButtonElement).addEventListener('click', () => void fillFromGateway());
enableHeader();
/** What a link to this page hands over stands behind the `#`, which is never sent: `#body=…&request=…`. */
function fillFromLink(): void {
  const handedOver = new URLSearchParams(location.hash.slice(1));
  const body = handedOver.get('body');
  if (body === null) return;
  bodyInput.value = body;
  inputField('request').value = handedOver.get('request') ?? '';
  void fillFromGateway();
}

fillFromLink();
addEventListener('hashchange', fillFromLink);
verify(); // after going back the browser restores the input
