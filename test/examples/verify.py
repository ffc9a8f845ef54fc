import hashlib, json, pathlib, re, subprocess, sys, tempfile  # verify.py KEY GENESIS "GET $URL" [NONCE] < BODY
key, cluster, request, nonce = ([re.sub('(?<=^GET ).*?(?=/api/v1)', '', arg) for arg in sys.argv[1:]] + [None])[:4]
must = lambda holds, fault: holds or sys.exit(f'refused: {fault}')
sha256 = lambda data: hashlib.sha256(data).digest()
start = (body := sys.stdin.buffer.read()).rfind(b'{')  # a receipt holds no other
receipt = json.loads(body[start:-1])
names = 'v kid cluster request status slot commitment claim digest issuedAt nonce size index path sig'.split()
must(list(receipt) == names and json.dumps(receipt, separators=(',', ':')).encode() == body[start:-1], 'malformed')
frame = re.fullmatch(b'{"result":(.+),"slot":%d,"receipt":' % receipt['slot'], body[:start], re.DOTALL)
must(frame and body.endswith(b'}'), 'envelope')
must(sha256(frame[1]).hex() == receipt['digest'], 'digest')
must([receipt[n] for n in ('status', 'cluster', 'request', 'nonce')] == [200, cluster, request, nonce], 'not what was asked')
statement = ['proof-of-serve/v1', key, *('-' if receipt[n] is None else str(receipt[n]) for n in names[2:11]), '']
node, index, last = sha256(b'\0' + '\n'.join(statement).encode()), receipt['index'], receipt['size'] - 1
for sibling in map(bytes.fromhex, receipt['path']):  # RFC 9162, 2.1.3.2
    must(last > 0, 'path')
    is_left = index % 2 == 1 or index == last
    node = sha256(b'\1' + (sibling + node if is_left else node + sibling))
    while is_left and index % 2 == 0 and index > 0: index, last = index // 2, last // 2
    index, last = index // 2, last // 2
must(last == 0, 'path')
base58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'.index
spki = bytes.fromhex('302a300506032b6570032100') + sum(58**i * base58(c) for i, c in enumerate(key[::-1])).to_bytes(32, 'big')
head = f'proof-of-serve/v1 tree\n{receipt["size"]}\n{node.hex()}\n'.encode()
with tempfile.TemporaryDirectory() as folder:
    for name, data in {'key': spki, 'head': head, 'sig': bytes.fromhex(receipt['sig'])}.items():
        pathlib.Path(folder, name).write_bytes(data)
    command = 'openssl pkeyutl -verify -pubin -keyform DER -inkey key -rawin -in head -sigfile sig'
    must(subprocess.run(command.split(), cwd=folder, capture_output=True).returncode == 0, 'signature')
print(frame[1].decode())
