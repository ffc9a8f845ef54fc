/** Whether a reason of a failure has no name for a program's own number, which only the program's author knows. */
export const isWithoutName = (reason: string): boolean => /own error number /.test(reason);

/** Whether such a reason gives nothing but the number: what the program had not called explains none. */
export const isNumberAlone = (reason: string): boolean =>
  /own error number (\d+|\(unknown\))( before it called .*| after it had called none .*)?$/.test(reason);
