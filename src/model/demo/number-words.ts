const units =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(
    ' ',
  );
const tens = 'twenty thirty forty fifty sixty seventy eighty ninety'.split(' ');

const unit = `(?:${units.join('|')})`;
const ten = `(?:${tens.join('|')})`;
const below100 = `(?:${ten}(?:[- ]${unit})?|${unit})`;
const below1000 = `(?:${below100} hundred(?: (?:and )?${below100})?|${below100})`;
const numbers = new RegExp(`\\b${below1000}(?: thousand(?: (?:and )?${below1000})?| million)?\\b`, 'gi');

/** Without one of these a number word is just a word: "one of two", "a one-to-one talk". */
const operators =
  /\b(?:plus|minus|times|multiplied|divided|squared|cubed|power|root|modulo|per ?cent)\b|\bsqrt|[+*/^%×÷=]/i;

function numberFrom(words: string): number {
  let whole = 0;
  let part = 0;
  for (const word of words.toLowerCase().split(/[- ]/)) {
    if (word === 'hundred') part *= 100;
    else if (word === 'thousand' || word === 'million') {
      whole += part * (word === 'million' ? 1_000_000 : 1_000);
      part = 0;
    } else if (tens.includes(word)) part += 20 + 10 * tens.indexOf(word);
    else part += Math.max(0, units.indexOf(word));
  }
  return whole + part;
}

/** Writes the numbers of a sum in digits: "twenty-one plus two" becomes "21 plus 2". Other texts stay as they are. */
export const digitsForWords = (text: string): string =>
  operators.test(text) ? text.replace(numbers, (words) => String(numberFrom(words))) : text;
