/** Steps until a promise is settled. Resolves, or rejects, as it does. */
export async function untilSettled<T>(pending: Promise<T>, step: () => Promise<void>): Promise<T> {
  let isSettled = false;
  const settled = pending.finally(() => {
    isSettled = true;
  });
  settled.catch(() => {}); // it is waited for below
  while (!isSettled) await step();
  return settled;
}
