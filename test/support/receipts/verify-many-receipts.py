#!/usr/bin/env python3
"""Verdicts of verify-receipt.py on many bodies.

Each line of the standard input is a JSON array: public key, cluster, request, nonce or null, body as base64.
For each it prints a line: "holds", or the fault.
"""
import base64, importlib.util, json, pathlib, sys

spec = importlib.util.spec_from_file_location('verify_receipt', pathlib.Path(__file__).with_name('verify-receipt.py'))
verifier = importlib.util.module_from_spec(spec)
spec.loader.exec_module(verifier)

for line in sys.stdin:
    public_key, cluster, request, nonce, body = json.loads(line)
    try:
        verifier.verify(public_key, cluster, request, base64.b64decode(body), nonce)
        print('holds')
    except SystemExit as refusal:
        print(str(refusal).removeprefix('refused: '))
