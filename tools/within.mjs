/**
 * Waits for some work, but only for a limited time. Work that has not ended by then continues unattended.
 * @param {number} milliseconds
 * @param {() => Promise<void>} work
 * @returns {Promise<boolean>} whether it has ended; an error of the work is thrown
 */
export async function within(milliseconds, work) {
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, milliseconds, false);
  });
  try {
    return await Promise.race([work().then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}
