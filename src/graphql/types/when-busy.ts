import { builder } from '../builder.js';

export const WhenBusy = builder.enumType('WhenBusy', {
  description:
    'What becomes of a message when a turn is active in its session. When none is, all three start it at once.',
  values: {
    REJECT: {
      description: 'It is refused with TURN_IN_PROGRESS, or INPUT_PENDING when the active turn waits for its user.',
    },
    ENQUEUE: {
      description:
        'It is stored as a QUEUED turn and starts when all turns before it have ended, one that waits for its user included. At most 10 may wait in a session, unless the operator has changed MAX_QUEUED_TURNS; one more is refused with TURN_IN_PROGRESS, whose extensions have queuedTurns and limit.',
    },
    INTERRUPT: {
      description:
        'The active turn and everything in the queue is stopped, as stop does it, then it starts. Of two at once the later one interrupts the earlier. TURN_IN_PROGRESS when others keep coming first.',
    },
  } as const,
});
