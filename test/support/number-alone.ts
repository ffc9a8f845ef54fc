/** Whether a reason of a failure gives nothing but the program's own number: which programs it called first explains none. */
export const isNumberAlone = (reason: string): boolean => /own error number \d+( before it called .*)?$/.test(reason);
