/** Words that a pirate says otherwise. */
const pirate: readonly (readonly [RegExp, string])[] = [
  [/\bHello\b/g, 'Ahoy'],
  [/\bhello\b/g, 'ahoy'],
  [/\bYou are\b/g, 'Ye be'],
  [/\byou are\b/g, 'ye be'],
  [/\bYou\b/g, 'Ye'],
  [/\byou\b/g, 'ye'],
  [/\bYour\b/g, 'Yer'],
  [/\byour\b/g, 'yer'],
  [/\bI am\b/g, 'I be'],
  [/\bmy\b/g, 'me'],
  [/\bMy\b/g, 'Me'],
];

/** The two manners that a system prompt can ask of the demo model, so that its effect can be seen. */
export function inVoice(text: string, system: string): string {
  let spoken = text;
  if (/\bpirate\b/i.test(system)) {
    spoken = `Arr! ${pirate.reduce((said, [pattern, word]) => said.replace(pattern, word), spoken)}`;
  }
  if (/\b(?:capital letters|upper ?case|all caps)\b/i.test(system)) spoken = spoken.toUpperCase();
  return spoken;
}
