/** The gateway that served this page, with the prefix that a proxy may have put before its paths. */
export const gatewayUrl = (): URL => new URL('.', location.href);

export const apiUrl = (path: string): URL => new URL(`api/v1${path}`, gatewayUrl());
