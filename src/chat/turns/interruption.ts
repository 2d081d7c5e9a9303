/** Ends whatever is being waited for when a follower leaves: a wait inside of an `await` cannot be ended otherwise. */
export class Interruption {
  readonly #waiting = new Set<() => void>();
  #isFired = false;

  get isFired(): boolean {
    return this.#isFired;
  }

  fire(): void {
    this.#isFired = true;
    for (const end of this.#waiting) end();
    this.#waiting.clear();
  }

  /**
   * The result of the work, or null when the interruption comes first.
   *
   * @param giveBack called with a result that comes too late to be used
   */
  race<T>(work: Promise<T>, giveBack: (late: T) => void = () => {}): Promise<T | null> {
    return new Promise((resolve, reject) => {
      const end = () => resolve(null);
      if (this.#isFired) end();
      else this.#waiting.add(end);
      work.then(
        (result) => {
          if (this.#isFired) giveBack(result);
          this.#waiting.delete(end);
          resolve(result);
        },
        (error) => {
          this.#waiting.delete(end);
          reject(error);
        },
      );
    });
  }
}
