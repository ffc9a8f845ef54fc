/** What a client needs to know about `/stream` beyond its handshake, in Markdown, for the OpenAPI document. */
export const STREAM_DESCRIPTION = `
A new connection gets the newest frame, then one for each slot. A client may send these JSON messages:

- \`{"op":"subscribe","topic":"balance","address":"…","commitment":"confirmed","id":1}\`: \`topic\` is \`balance\` or
  \`account\`; \`commitment\` and \`id\` (an integer, or a text of at most 64 characters) are optional. It is answered with
  \`{"type":"subscribed","id":1,"topic":"balance","address":"…","seq":0,"answer":{…}}\` and then, for each change, with
  \`{"type":"balance","id":1,"address":"…","seq":1,"answer":{…}}\`. \`answer\` is byte for byte the body of
  \`GET /balance/…\` at its slot; \`"reorg":true\` marks a processed value that was rolled back.
- \`{"op":"subscribe","topic":"balance","addresses":["…","…"],"id":2}\`: the same for each of 1 to 80 addresses.
- \`{"op":"unsubscribe","topic":"balance","address":"…"}\`, or with \`addresses\`, and the \`commitment\` of the
  subscription: answered with \`{"type":"unsubscribed","id":null,"topic":"balance","address":"…"}\` for each address.
- \`{"op":"unsubscribe","id":2}\`: the same for each subscription that was made with this id.
- \`{"op":"ping"}\`: answered with \`{"type":"pong"}\`.

An error is \`{"type":"error","id":…,"error":"invalid_address","message":"…"}\`, with \`address\` if it is about one of
several addresses, and with \`retryAfter\`, in seconds, if another try may succeed. An error with the id of a subscription
ends it: \`overloaded\` if another caller needs the place and the client holds more than its share of the live accounts.

**Price.** The upgrade and each address to subscribe to cost one unit of the rate limit; frames cost nothing. A message that
costs more units than are left is refused as a whole with \`rate_limited\`, and costs nothing.

**Pace.** Ten messages a second are handled on a connection, and a number that depends on the tier on all connections of a
caller. Each message beyond that is refused: at most once a second an error \`rate_limited\` lists the \`ids\` of the
refused messages, which can be sent again. A message has at most 4,096 bytes.

**Close codes**

| code | meaning |
|---|---|
| 1001 | the gateway is shutting down: connect again |
| 1008 | the wallet or key has a lower tier now, and this stream is beyond its bounds: connect again |
| 1009 | a message was longer than 4,096 bytes |
| 1013 | the client reads too slowly: frames were lost for three seconds |
| 4401 | the API key was revoked or has expired |
| 4403 | a message was no JSON object with a known \`op\` |
| 4429 | 50 messages over the pace within 5 s: name many addresses in one message, connect again after a pause |

**API key of a browser.** A browser can send no \`X-Api-Key\` with a WebSocket. It offers the subprotocols \`slotgate\` and
the key, \`new WebSocket(url, ['slotgate', key])\`; the answer names \`slotgate\` alone. A key in \`X-Api-Key\` as well must
be the same one. An upgrade that is refused (400, 401, 426, 429, 503) is close code 1006 in a browser, without a reason.
`.trim();
