/** The code of the error where LiteSVM has no binary for the system. An error keeps its code from thread to thread. */
export const NO_LITESVM = 'ERR_NO_LITESVM';
