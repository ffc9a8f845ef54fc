#!/usr/bin/env python3
"""Signs statements (proof-of-serve/v1 and v2) together with nothing but Python's standard library and the openssl command.

Each line of the standard input is JSON: {"seed": 64 hex digits, "statements": [the members of a receipt from cluster to nonce, or to previous]}.
Prints one receipt a line, in the order of the lines and their statements.
"""
import hashlib, json, subprocess, sys, tempfile

BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
PKCS8 = bytes.fromhex('302e020100300506032b657004220420')
MEMBERS = ['cluster', 'request', 'status', 'slot', 'commitment', 'claim', 'agreed', 'digest', 'issuedAt', 'nonce', 'previous']


def sha256(data):
    return hashlib.sha256(data).digest()


def base58_encode(data):
    number, text = int.from_bytes(data, 'big'), ''
    while number:
        number, digit = divmod(number, 58)
        text = BASE58[digit] + text
    return '1' * (len(data) - len(data.lstrip(b'\0'))) + text


def split(count):
    return 1 << (count - 1).bit_length() - 1


def root(leaves):  # RFC 9162 2.1.1
    if len(leaves) == 1:
        return leaves[0]
    k = split(len(leaves))
    return sha256(b'\1' + root(leaves[:k]) + root(leaves[k:]))


def path(m, leaves):  # RFC 9162 2.1.3.1
    if len(leaves) == 1:
        return []
    k = split(len(leaves))
    return path(m, leaves[:k]) + [root(leaves[k:])] if m < k else path(m - k, leaves[k:]) + [root(leaves[:k])]


def openssl(*args, **files):
    command = ['openssl', *args]
    with tempfile.TemporaryDirectory() as folder:
        for name, data in files.items():
            with open(f'{folder}/{name}', 'wb') as file:
                file.write(data)
        return subprocess.run(command, cwd=folder, capture_output=True, check=True).stdout


for given in map(json.loads, sys.stdin):
    secret = PKCS8 + bytes.fromhex(given['seed'])
    public = openssl('pkey', '-inform', 'DER', '-in', 'key', '-pubout', '-outform', 'DER', key=secret)[-32:]
    leaves = []
    for statement in given['statements']:
        version = 2 if 'agreed' in statement else 1
        values = ['-' if statement[name] is None else str(statement[name]) for name in MEMBERS if name in statement]
        leaves.append(sha256(b'\0' + '\n'.join([f'proof-of-serve/v{version}', base58_encode(public), *values, '']).encode()))
    head = f'proof-of-serve/v1 tree\n{len(leaves)}\n{root(leaves).hex()}\n'.encode()
    sig = openssl('pkeyutl', '-sign', '-keyform', 'DER', '-inkey', 'key', '-rawin', '-in', 'head', key=secret, head=head).hex()
    for index, statement in enumerate(given['statements']):
        members = {name: statement[name] for name in MEMBERS if name in statement}
        receipt = {'v': 2 if 'agreed' in statement else 1, 'kid': sha256(public)[:8].hex(), **members,
                   'size': len(leaves), 'index': index, 'path': [node.hex() for node in path(index, leaves)], 'sig': sig}
        print(json.dumps(receipt, separators=(',', ':')))
