import { bodyText, FAULT_EXPLANATIONS, ReceiptError } from '../../client/verify/index.ts';
import { visibleText } from '../../shared/domain/visible-text.ts';
import { VOTE_PROGRAM } from '../../shared/domain/well-known-addresses.ts';
import { create, elementById, setText } from '../browser/elements.ts';
import { apiUrl, gatewayUrl } from '../browser/gateway-url.ts';
import { enableHeader } from '../browser/header.ts';
import { readPublicKey } from '../browser/trusted-client.ts';
import { readHealth } from '../feed/read-health.ts';
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
/** What screen readers announce of a report, once for all input that leads to the same. */
const saidElement = elementById('said', HTMLElement);

/** Where the verdict has room beside the form. */
const isWide = matchMedia('(min-width: 60rem)');

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

const VERDICT_SIGNS: Readonly<Record<VerificationReport['verdict'], string>> = { proven: '✓', refused: '✗', open: '?' };

function renderReport({ verdict, headline, explanation, lines, result }: VerificationReport): void {
  reportElement.className = verdict;
  setText(saidElement, `${headline}: ${explanation}`);
  const sign = create('span', { 'aria-hidden': 'true' }, VERDICT_SIGNS[verdict]);
  reportElement.replaceChildren(create('h2', {}, sign, ` ${headline}`), create('p', {}, explanation));
  if (result !== null)
    reportElement.append(
      create('h3', {}, 'The result that was signed'),
      create('pre', { tabindex: '0' }, visibleText(result)),
    );
  if (lines.length === 0) return;
  const statement = create('details', {}, create('summary', {}, 'The statement, line by line'));
  statement.append(create('table', {}, ...lines.map(renderLine)));
  statement.open = isWide.matches || verdict === 'refused';
  reportElement.append(statement);
}

function verify(): void {
  noteElement.textContent = '';
  reportElement.replaceChildren();
  reportElement.className = '';
  const isEmpty = bodyInput.value.trim() === '';
  elementById('forge', HTMLButtonElement).disabled = isEmpty;
  const share = elementById('share', HTMLAnchorElement);
  share.style.visibility = isEmpty ? 'hidden' : ''; // it keeps its place
  const { request, nonce } = readInput();
  share.href = `#${new URLSearchParams({ body: bodyInput.value, request, nonce })}`;
  if (isEmpty) {
    setText(saidElement, '');
    return;
  }
  try {
    renderReport(verifyText(bodyInput.value, readInput(), Date.now()));
  } catch (thrown) {
    setText(saidElement, '');
    noteElement.textContent = thrown instanceof Error ? thrown.message : String(thrown);
  }
}

/** Requests a text from the gateway that served this page. */
async function fetchText(path: string): Promise<string> {
  const answer = await fetch(apiUrl(`/${path}`));
  if (!answer.ok) throw new Error(`The gateway answered ${answer.status}: try again in a moment.`);
  return answer.text();
}

/** Reads what answers of the gateway are compared with; returns how to fill that in. */
async function readKnown(): Promise<() => void> {
  const [publicKey, { cluster = '' }] = await Promise.all([readPublicKey(), readHealth(gatewayUrl())]);
  return () => {
    inputField('publicKey').value = publicKey;
    inputField('cluster').value = cluster;
    verify();
  };
}

async function fillFromGateway(): Promise<void> {
  try {
    (await readKnown())();
  } catch (thrown) {
    verify(); // what there is without a key
    showFailure(thrown);
  }
}

const EXAMPLE_PATH = `balance/${VOTE_PROGRAM}`;
const EXAMPLE_REQUEST = `GET /api/v1/${EXAMPLE_PATH}`;

/** Shows what a receipt is by an answer of now, unless its reader has given another one by then. */
async function loadExample(): Promise<void> {
  const { value: before } = bodyInput;
  const [example, fill] = await Promise.all([fetchText(EXAMPLE_PATH), readKnown()]);
  if (bodyInput.value !== before) return;
  bodyInput.value = example;
  inputField('request').value = EXAMPLE_REQUEST;
  inputField('nonce').value = '';
  fill();
}

const showFailure = (thrown: unknown): void => {
  const isRefused = thrown instanceof Error && !(thrown instanceof TypeError); // `fetch` throws that without an answer
  noteElement.textContent = isRefused ? thrown.message : 'No gateway answers at the address of this page.';
};

/** Forgets what the example was compared with, as soon as an answer to another request stands in its place. */
function leaveExample(): void {
  if (inputField('request').value !== EXAMPLE_REQUEST || bodyInput.value.includes(EXAMPLE_REQUEST)) return;
  for (const id of ['publicKey', 'cluster', 'request'] as const) inputField(id).value = '';
}

/** Changes the last digit of the result: whoever does that can't sign it. */
function forge(): void {
  const [before = '', after] = bodyInput.value.split(/(?=,"slot":)/);
  const forged = before.replace(/\d(?=\D*$)/, (digit) => String((Number(digit) + 1) % 10));
  bodyInput.value = after === undefined ? bodyInput.value : bodyInput.value.replace(before, () => forged);
  verify();
}

bodyInput.addEventListener('input', leaveExample);
form.addEventListener('input', verify);
elementById('example', HTMLButtonElement).addEventListener('click', () => void loadExample().catch(showFailure));
elementById('forge', HTMLButtonElement).addEventListener('click', forge);
addEventListener('dragover', (event) => event.preventDefault());
addEventListener('drop', (event) => {
  event.preventDefault();
  const [file] = event.dataTransfer?.files ?? [];
  void file
    ?.arrayBuffer()
    .then((bytes) => {
      bodyInput.value = bodyText(new Uint8Array(bytes));
      leaveExample();
      verify();
    })
    .catch((thrown) => {
      bodyInput.value = '';
      verify();
      noteElement.textContent =
        thrown instanceof ReceiptError ? FAULT_EXPLANATIONS[thrown.code] : "The file can't be read.";
    });
});
form.addEventListener('submit', (event) => {
  event.preventDefault();
  verify();
});
elementById('fill', HTMLButtonElement).addEventListener('click', () => void fillFromGateway());
enableHeader();
/** What a link to this page hands over stands behind the `#`, which is never sent: `#body=…&request=…&nonce=…`. */
function fillFromLink(): void {
  const handedOver = new URLSearchParams(location.hash.slice(1));
  const body = handedOver.get('body');
  if (body === null) return;
  bodyInput.value = body;
  for (const id of ['request', 'nonce'] as const) inputField(id).value = handedOver.get(id) ?? '';
  void fillFromGateway();
}

fillFromLink();
addEventListener('hashchange', fillFromLink);
verify(); // after going back the browser restores the input
// a saved copy requests nothing, and a reader who comes by a link brings an answer
if (bodyInput.value === '' && location.hash === '' && location.protocol !== 'file:') loadExample().catch(() => {}); // then the page begins empty
