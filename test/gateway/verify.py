"""Checks a receipt with nothing but the Python library and openssl: BODY-FILE PUBLIC-KEY CLUSTER REQUEST."""
import hashlib, json, os, subprocess, sys, tempfile

ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


def base58(text):
    number = 0
    for letter in text:
        number = number * 58 + ALPHABET.index(letter)
    return number.to_bytes(32, "big")


def sha256(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def root_of(leaf, index, size, path):
    node, place, last = sha256(b"\0", leaf), index, size - 1
    for sibling in map(bytes.fromhex, path):
        assert last > 0, "path"
        if place & 1 or place == last:
            node = sha256(b"\1", sibling, node)
            while not place & 1 and place:
                place, last = place >> 1, last >> 1
        else:
            node = sha256(b"\1", node, sibling)
        place, last = place >> 1, last >> 1
    assert last == 0, "path"
    return node


file, public_key, cluster, request = sys.argv[1:]
body = open(file, "rb").read()
start = body.rindex(b"{")
receipt = json.loads(body[start:-1])
before, after = b'{"result":', b',"slot":%d,"receipt":' % receipt["slot"]
assert body.startswith(before) and body[:start].endswith(after), "envelope"
assert sha256(body[len(before) : start - len(after)]).hex() == receipt["digest"], "digest"
assert receipt["cluster"] == cluster and receipt["request"] == request, "question"
key = base58(public_key)
assert sha256(key)[:8].hex() == receipt["kid"], "kid"
names = ["cluster", "request", "status", "slot", "commitment", "claim", "digest", "issuedAt"]
lines = ["proof-of-serve/v1", public_key, *(str(receipt[name]) for name in names), receipt["nonce"] or "-"]
root = root_of("".join(line + "\n" for line in lines).encode(), receipt["index"], receipt["size"], receipt["path"])
head = f"proof-of-serve/v1 tree\n{receipt['size']}\n{root.hex()}\n".encode()

with tempfile.TemporaryDirectory() as folder:
    paths = {}
    parts = {"key": bytes.fromhex("302a300506032b6570032100") + key, "head": head, "sig": bytes.fromhex(receipt["sig"])}
    for name, data in parts.items():
        paths[name] = os.path.join(folder, name)
        with open(paths[name], "wb") as out:
            out.write(data)
    command = ["openssl", "pkeyutl", "-verify", "-pubin", "-keyform", "DER", "-inkey", paths["key"], "-rawin"]
    done = subprocess.run([*command, "-in", paths["head"], "-sigfile", paths["sig"]], stdout=subprocess.DEVNULL)
sys.exit(done.returncode)
