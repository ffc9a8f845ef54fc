/** Calls a node's method over HTTP. Throws the JSON-RPC error, or `HTTP <status>`. */
export async function rpcRequest(url: string, method: string, params: readonly unknown[] = []): Promise<any> {
  const response = await rpcPost(url, method, params);
  if (response.status !== 200) throw new Error(`HTTP ${response.status}`);
  const { result, error } = (await response.json()) as any;
  if (error !== undefined) throw Object.assign(new Error(error.message), error);
  return result;
}

/** Calls a method like {@link rpcRequest}; returns the whole response. */
export const rpcPost = (url: string, method: string, params: readonly unknown[] = []): Promise<Response> =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
