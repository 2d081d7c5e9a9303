/** What the contract has and the schema does not have yet, by the feature that will bring it. */
export const absent: Readonly<Record<string, readonly string[]>> = {};
