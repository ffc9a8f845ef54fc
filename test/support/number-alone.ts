/** Whether a reason of a failure has no name for a program's own number, which only the program's author knows. */
export const isWithoutName = (reason: string): boolean => /own error number /.test(reason);

/** Whether such a reason says nothing else: how far the program came before it refused is a fact of its own. */
export const isNumberAlone = (reason: string): boolean => /own error number (\d+|\(unknown\))$/.test(reason);
