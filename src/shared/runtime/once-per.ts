/** Returns a function that finds something for each object once, however often it is needed, and forgets it with the object. */
export function oncePer<Subject extends object, Found extends object>(
  find: (subject: Subject) => Found,
): (subject: Subject) => Found {
  const known = new WeakMap<Subject, Found>();
  return (subject) => {
    const found = known.get(subject) ?? find(subject);
    known.set(subject, found);
    return found;
  };
}
