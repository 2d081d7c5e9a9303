/** How a step that ended as it should is judged. */
export const judged = {
  assessment: { completed: true, confidence: 0.9, needsClarification: false, reasons: ['answered'] },
  goesOn: null,
};
