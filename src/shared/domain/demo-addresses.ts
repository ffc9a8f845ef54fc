/** The addresses of the embedded cluster that examples name: they are the same at each start. */
export const DEMO_ADDRESSES = {
  alice: 'ExJxntoqpmUT5Zt1pDjeQXZJ4J4dNeZUNCdkDEXQDcLZ',
  bob: '4aB1mGF1fc6rTe9qXvWcSErSZZm6xar72FZt6U1rCdgV',
  whale: '9grdmoXBEpJAQTNdRwykoouDMS4MoJ2vrDMLnbTpzT9o',
  pool: '5csjEKm6ap2DMJZzcCWAyZkUkDp3sYZewaVp3YqR9jS3',
  DUSD: 'DAEBwU7FnYpyjv96oSnEWZvTnivvPT56KqQDHzRegFXq',
} as const;
