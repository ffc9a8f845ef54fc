const root = document.querySelector<HTMLMetaElement>('meta[name=root]')?.content ?? '';

/** The gateway that served this page, with the prefix that a proxy may have put before its paths. */
export const gatewayUrl = (): URL => new URL(root || '.', location.href);

export const apiUrl = (path: string): URL => new URL(`api/v1${path}`, gatewayUrl());
