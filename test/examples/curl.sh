#!/bin/sh
# Reads and verifies with curl, jq and Python alone: sh curl.sh [URL]
set -eu
API="${1:-http://127.0.0.1:8787}/api/v1"
ADDRESS=9grdmoXBEpJAQTNdRwykoouDMS4MoJ2vrDMLnbTpzT9o

# A result, the slot at which it holds, and the receipt. Lamports may be beyond 2^53: `sol` is text, and exact.
curl -sf "$API/balance/$ADDRESS" | jq -c '{sol: .result.sol, slot}'

# Many balances at one slot, in one request.
curl -sf "$API/balances?addresses=$ADDRESS,11111111111111111111111111111111" | jq -c '[.result[].sol]'

# Only what has changed: as long as the result is the same, 304 and a new receipt in X-Receipt.
ETAG="$(curl -sfI "$API/balance/$ADDRESS" | tr -d '\r' | sed -n 's/^etag: //Ip')"
curl -s -o /dev/null -w '%{http_code}\n' -H "If-None-Match: $ETAG" "$API/balance/$ADDRESS"

# An error has a code, a message, and a page about its cause and cure.
curl -s "$API/balance/nobody" | jq -r .error
curl -sI "$API/balance/nobody" | tr -d '\r' | sed -n 's/^link: //Ip'

# A receipt that can be no older than this request. Key and cluster are believed here: where it matters, pin both.
NONCE="$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')"
KEY="$(curl -sf "$API/pubkey" | jq -r .publicKey)"
GENESIS="$(curl -sf "$API/health" | jq -r .result.cluster)"
curl -sf -H "X-Receipt-Nonce: $NONCE" "$API/balance/$ADDRESS" |
  python3 "$(dirname "$0")/verify.py" "$KEY" "$GENESIS" "GET $API/balance/$ADDRESS" "$NONCE"
