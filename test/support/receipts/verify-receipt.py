#!/usr/bin/env python3
"""Verifies a receipt (proof-of-serve/v1 and v2) with nothing but Python's standard library and the openssl command.

usage: verify-receipt.py PUBLIC_KEY CLUSTER 'GET /api/v1/...' FILE|- [NONCE]

PUBLIC_KEY and CLUSTER are base58, the request is in its canonical spelling. Prints the signed result and exits 0,
or says what is wrong and exits 1.
"""
import hashlib, re, subprocess, sys, tempfile

RECEIPT = re.compile(
    r'\{"v":([12]),"kid":"([0-9a-f]{16})","cluster":"([1-9A-HJ-NP-Za-km-z]{32,44})",'
    r'"request":"((?:GET|SUB|POST) /[!#-[\]-z|}~ ]{1,2040})","status":([1-5][0-9]{2}),"slot":(0|[1-9][0-9]{0,15}),'
    r'"commitment":"(processed|confirmed|finalized)","claim":"((?:exact|observed)/[1-9][0-9]{0,8})",'
    r'(?:"agreed":"([1-9][0-9]?/[1-9][0-9]?)",)?"digest":"([0-9a-f]{64})","issuedAt":(0|[1-9][0-9]{0,15}),"nonce":(null|"[A-Za-z0-9_-]{16,64}"),'
    r'(?:"previous":(null|"[0-9a-f]{64}"),)?"size":([1-9][0-9]{0,4}),"index":(0|[1-9][0-9]{0,4}),'
    r'"path":\[((?:"[0-9a-f]{64}"(?:,"[0-9a-f]{64}"){0,15})?)\],"sig":"([0-9a-f]{128})"\}')
BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
P, L = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
ED25519_SPKI = bytes.fromhex('302a300506032b6570032100')


def check(holds, fault):
    if not holds:
        sys.exit(f'refused: {fault}')


def sha256(data):
    return hashlib.sha256(data).digest()


def base58_decode(text):
    check(text and all(c in BASE58 for c in text), 'not base58')
    number = 0
    for c in text:
        number = number * 58 + BASE58.index(c)
    zeros = len(text) - len(text.lstrip('1'))
    return bytes(zeros) + number.to_bytes((number.bit_length() + 7) // 8, 'big')


def add(a, b):  # affine addition on the twisted Edwards curve: slow, and short enough to be read
    (x1, y1), (x2, y2) = a, b
    k = D * x1 * x2 * y1 * y2 % P
    return ((x1 * y2 + x2 * y1) * pow(1 + k, -1, P) % P, (y1 * y2 + x1 * x2) * pow(1 - k, -1, P) % P)


def has_prime_order(key):
    if len(key) != 32:
        return False
    sign, y = key[31] >> 7, int.from_bytes(key, 'little') & (2**255 - 1)
    if y >= P:
        return False
    xx = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(xx, (P + 3) // 8, P)
    if x * x % P != xx:
        x = x * pow(2, (P - 1) // 4, P) % P
    if x * x % P != xx or (x == 0 and sign):
        return False
    point, product = (x if x & 1 == sign else -x % P, y), (0, 1)
    if point == (0, 1):
        return False
    for bit in bin(L)[2:]:
        product = add(product, product)
        if bit == '1':
            product = add(product, point)
    return product == (0, 1)


def root_of(leaf, index, size, path):
    node, last = leaf, size - 1
    for sibling in path:
        check(last > 0, 'path')
        if index & 1 or index == last:
            node = sha256(b'\1' + sibling + node)
            while not index & 1 and index:
                index, last = index >> 1, last >> 1
        else:
            node = sha256(b'\1' + node + sibling)
        index, last = index >> 1, last >> 1
    check(last == 0, 'path')
    return node


def openssl_accepts(key, message, signature):
    with tempfile.NamedTemporaryFile() as pub, tempfile.NamedTemporaryFile() as sig, tempfile.NamedTemporaryFile() as msg:
        for file, data in (pub, ED25519_SPKI + key), (sig, signature), (msg, message):
            file.write(data)
            file.flush()
        command = ['openssl', 'pkeyutl', '-verify', '-pubin', '-keyform', 'DER', '-inkey', pub.name,
                   '-rawin', '-in', msg.name, '-sigfile', sig.name]
        return subprocess.run(command, capture_output=True).returncode == 0


def verify(public_key, cluster, request, body, nonce=None):
    try:
        body.decode('utf-8')
    except UnicodeDecodeError:
        check(False, 'utf8')
    start = body.rfind(b'{')
    check(start >= 0 and body.endswith(b'}'), 'envelope')
    match = RECEIPT.fullmatch(body[start:-1].decode('utf-8'))
    check(match, 'malformed')
    (version, kid, its_cluster, its_request, status, slot, commitment, claim, agreed, digest, issued, its_nonce, previous,
     size, index, path, sig) = match.groups()
    check({agreed is None, previous is None} == {version == '1'}, 'malformed')
    gave, read = map(int, (agreed or '1/1').split('/'))
    check(gave <= read, 'malformed')
    check(max(int(slot), int(issued)) < 2**53 and int(index) < int(size) <= 65536, 'malformed')
    before, after = b'{"result":', f',"slot":{slot},"receipt":'.encode()
    framed = body[:start]
    check(framed.startswith(before) and framed.endswith(after) and len(framed) > len(before + after), 'envelope')
    result = framed[len(before):-len(after)]
    check(sha256(result).hex() == digest, 'digest')
    check(status == '200', 'status')
    check(its_cluster == cluster, 'cluster')
    check(its_request == request, 'request')
    check(its_nonce == (f'"{nonce}"' if nonce else 'null'), 'nonce')
    key = base58_decode(public_key)
    check(sha256(key)[:8].hex() == kid, 'unknown-key')
    check(has_prime_order(key), 'weak-key')
    added = ([agreed], ['-' if previous == 'null' else previous[1:-1]]) if version == '2' else ([], [])
    lines = [f'proof-of-serve/v{version}', public_key, its_cluster, its_request, status, slot, commitment, claim,
             *added[0], digest, issued, nonce or '-', *added[1], '']
    siblings = [bytes.fromhex(text) for text in re.findall('[0-9a-f]{64}', path)]
    root = root_of(sha256(b'\0' + '\n'.join(lines).encode()), int(index), int(size), siblings)
    head = f'proof-of-serve/v1 tree\n{size}\n{root.hex()}\n'.encode()
    check(openssl_accepts(key, head, bytes.fromhex(sig)), 'signature')
    return result


if __name__ == '__main__':
    if len(sys.argv) not in (5, 6):
        sys.exit(__doc__)
    file = sys.argv[4]
    content = sys.stdin.buffer.read() if file == '-' else open(file, 'rb').read()
    sys.stdout.buffer.write(verify(*sys.argv[1:4], content, *sys.argv[5:]) + b'\n')
