/** Answers what the parent process asks, without keeping this process alive, and ends this process with its parent. */
export function answerQuestions(answers) {
  process.on('message', async ({ id, question, options }) => {
    process.send({ id, answer: await answers[question](options) });
  });
  process.on('disconnect', () => process.exit());
  process.channel?.unref();
}
