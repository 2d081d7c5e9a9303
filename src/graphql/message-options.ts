import { WhenBusy } from './types/when-busy.js';

/** Options of the input fields that send and stream share: the message and where it goes. */
export const messageOptions = {
  sessionId: { required: true, description: 'Id of the session.' },
  message: {
    required: true,
    description:
      'The text: not blank, without U+0000 and half surrogate pairs, and no larger than the server allows (1 MiB of UTF-8, unless its operator has changed it).',
  },
  images: {
    description:
      'Images for the model to see, at most 8: https URLs of up to 2,048 characters, which are passed on as they are; data URIs (data:image/png;base64,…) of PNG, JPEG, GIF or WebP up to 5 MiB; or, where the operator has set IMAGE_DIR, paths of such files, relative to that folder or absolute below it, of up to 1,024 characters, without links and "..". Data and files are checked and stored, up to 20 MiB of them in one message. Anything else is BAD_USER_INPUT, in the same words whether a file is there or not. Null or left out: none.',
  },
  whenBusy: {
    type: WhenBusy,
    defaultValue: 'REJECT',
    description: 'What to do when a turn is active in the session. Null is REJECT.',
  },
} as const;
