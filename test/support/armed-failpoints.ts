import { type Failpoint, type FailpointName, failpointNames } from '../../src/failpoints.js';

/** `kill` is SIGKILL, `stop` is SIGSTOP, `throw` is a fault of the code. */
export type FailpointAction = 'kill' | 'stop' | 'throw';

export interface ArmedFailpoint {
  readonly name: FailpointName;
  /** Which time of coming by it is meant, from 1, counted since it was armed. */
  readonly hit: number;
  readonly action: FailpointAction;
}

/**
 * Reads `after-flush:3:stop`, several of them with commas. Without a number it is the first time, without an action the
 * process is killed.
 *
 * @throws Error for what is none: a test that arms nothing would pass for the wrong reason.
 */
export function readFailpoints(text: string): ArmedFailpoint[] {
  return text
    .split(',')
    .filter((part) => part !== '')
    .map((part) => {
      const [name, hit = '1', action = 'kill', ...rest] = part.split(':');
      const known = failpointNames.find((one) => one === name);
      if (!known || !/^[1-9]\d*$/.test(hit) || !/^(kill|stop|throw)$/.test(action) || rest.length > 0) {
        throw new Error(`not a failpoint: ${part}`);
      }
      return { name: known, hit: Number(hit), action: action as FailpointAction };
    });
}

export interface ArmedFailpoints {
  readonly failpoint: Failpoint;
  /** In place of those that are armed. Counting begins here. */
  arm(points: readonly ArmedFailpoint[]): void;
}

/** A failpoint that does something the n-th time that its place is reached, once. */
export function createArmedFailpoints(act: (point: ArmedFailpoint) => void): ArmedFailpoints {
  let armed: { readonly point: ArmedFailpoint; left: number }[] = [];
  return {
    failpoint(name) {
      const due = [];
      for (const entry of armed) {
        if (entry.point.name === name) entry.left -= 1;
        if (entry.left === 0) due.push(entry.point);
      }
      armed = armed.filter((entry) => entry.left > 0);
      for (const point of due) act(point);
    },
    arm(points) {
      armed = points.map((point) => ({ point, left: point.hit }));
    },
  };
}
