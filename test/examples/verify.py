import hashlib, json, pathlib, re, subprocess, sys, tempfile  # verify.py KEY GENESIS "GET $URL" [NONCE] < BODY
key, cluster, request, nonce = ([re.sub('(?<=^GET ).*?(?=/api/v1)', '', arg) for arg in sys.argv[1:]] + [None])[:4]
must = lambda holds, fault: holds or sys.exit(f'refused: {fault}')
sha256 = lambda data: hashlib.sha256(data).digest()
start = (body := sys.stdin.buffer.read()).rfind(b'{')  # a receipt holds no other
try:
    receipt = json.loads(body[start:-1])
    must(isinstance(receipt, dict) and json.dumps(receipt, separators=(',', ':')).encode() == body[start:-1], 'malformed')
    names = 'v kid cluster request status slot commitment claim agreed digest issuedAt nonce previous size index path sig'.split()
    if receipt.get('v') == 1: names = [name for name in names if name not in ('agreed', 'previous')]  # of version 2 only
    must(list(receipt) == names and receipt['v'] in (1, 2) and 0 <= receipt['index'] < receipt['size'], 'malformed')
    gave, read = map(int, receipt.get('agreed', '1/1').split('/'))  # operators that gave this result, of those that were read
    spelled = re.search(rb'"index":\d+,"path":\[(?:"[0-9a-f]{64}",?)*],"sig":"[0-9a-f]{128}"}$', body[start:-1])
    must(gave <= read and spelled and receipt.get('previous') != '-', 'malformed')
    frame = re.fullmatch(b'{"result":(.+),"slot":%d,"receipt":' % receipt['slot'], body[:start], re.DOTALL)
except (ValueError, TypeError, AttributeError): must(False, 'malformed')
must(frame and body.endswith(b'}'), 'envelope')
must(sha256(frame[1]).hex() == receipt['digest'], 'digest')
must([receipt[n] for n in ('status', 'cluster', 'request', 'nonce')] == [200, cluster, request, nonce], 'not what was requested')
lines = ('-' if receipt[n] is None else str(receipt[n]) for n in names[2:names.index('size')])
statement = [f'proof-of-serve/v{receipt["v"]}', key, *lines, '']
node, index, last = sha256(b'\0' + '\n'.join(statement).encode()), receipt['index'], receipt['size'] - 1
for sibling in map(bytes.fromhex, receipt['path']):  # RFC 9162, 2.1.3.2
    must(last > 0, 'path')
    is_left = index % 2 == 1 or index == last
    node = sha256(b'\1' + (sibling + node if is_left else node + sibling))
    while is_left and index % 2 == 0 and index > 0: index, last = index // 2, last // 2
    index, last = index // 2, last // 2
must(last == 0, 'path')
base58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'.index
raw = sum(58**i * base58(c) for i, c in enumerate(key[::-1])).to_bytes(32, 'big')
must(sha256(raw)[:8].hex() == receipt['kid'], 'unknown-key')
must(raw[31] & 127 != 0 or any(raw[1:31]) or raw[0] > 1, 'weak-key')  # the owner of these could deny a signature
head = f'proof-of-serve/v1 tree\n{receipt["size"]}\n{node.hex()}\n'.encode()
with tempfile.TemporaryDirectory() as folder:
    for name, data in {'key': bytes.fromhex('302a300506032b6570032100') + raw, 'head': head, 'sig': bytes.fromhex(receipt['sig'])}.items():
        pathlib.Path(folder, name).write_bytes(data)
    command = 'openssl pkeyutl -verify -pubin -keyform DER -inkey key -rawin -in head -sigfile sig'
    must(subprocess.run(command.split(), cwd=folder, capture_output=True).returncode == 0, 'signature')
print(frame[1].decode())
