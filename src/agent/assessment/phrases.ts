/** What the end of a model's thinking may give away. */
export type Signal = 'uncertain' | 'wants_to_verify' | 'missing_information';

interface Phrase {
  readonly signal: Signal;
  /** BCP 47. */
  readonly language: string;
  readonly pattern: RegExp;
}

/**
 * What models write when they doubt, mean to check, or lack something. A new language is new rows. A phrase names who
 * doubts or wants, so that talk about doubt in general, or its denial ("I do not need to verify"), is none.
 */
export const phrases: readonly Phrase[] = [
  {
    signal: 'uncertain',
    language: 'en',
    pattern:
      /\b(?:i(?:'|’)?m|i am) (?:still )?(?:not|un)[ -]?(?:at all |entirely |completely |totally |quite |really |so |too |very )?(?:sure|certain|confident)\b/gi,
  },
  {
    signal: 'uncertain',
    language: 'en',
    pattern:
      /\b(?:i (?:do not|don(?:'|’)t) (?:really )?(?:know|remember)|i(?:'|’)m (?:just |only )?guessing|i am (?:just |only )?guessing)\b/gi,
  },
  {
    signal: 'uncertain',
    language: 'en',
    pattern:
      /\b(?:this|that|it|my answer|my guess) (?:may|might|could) (?:well )?(?:be (?:wrong|incorrect|inaccurate|outdated)|not be (?:right|correct|accurate))\b/gi,
  },
  {
    signal: 'uncertain',
    language: 'zh',
    pattern:
      /(?:我|还|并)?(?:不太?|不能|无法|不敢)(?:确定|肯定)|没有?(?:把握|信心)|(?:可能|也许)(?:是错|不对|有误|不准确)|(?:只是|凭)猜/g,
  },
  {
    signal: 'wants_to_verify',
    language: 'en',
    pattern:
      /\b(?:i|we) (?:should|must|need to|have to|ought to|want to|would like to|(?:a|wi)ll|am going to|had better) (?:also |still |first |really )?(?:double[- ]?check|re-?check|verify|re-?calculate|re-?compute|check (?:this|that|it|my|the) )/gi,
  },
  {
    signal: 'wants_to_verify',
    language: 'en',
    pattern:
      /\b(?:let me|let(?:'|’)s) (?:just |also |first )?(?:double[- ]?check|re-?check|verify|re-?calculate|re-?compute)\b/gi,
  },
  {
    signal: 'wants_to_verify',
    language: 'zh',
    pattern:
      /(?:我|还|再|让我|应该|需要|得|必须)(?:再|先|来)?(?:检查|核对|验证|核实|验算|确认)(?:一下|一遍|一次|这|结果|答案)/g,
  },
  {
    signal: 'missing_information',
    language: 'en',
    pattern:
      /\b(?:i|we) (?:would )?(?:need|require|lack|am missing|are missing|do not have|don(?:'|’)t have) (?:some |any |more |further |enough |additional |the )*(?:information|details?|context|data|specifics)\b/gi,
  },
  {
    signal: 'missing_information',
    language: 'en',
    pattern:
      /\b(?:the )?user (?:did not|didn(?:'|’)t|does not|doesn(?:'|’)t|has not|hasn(?:'|’)t|never) (?:really )?(?:say|said|specify|specified|mention|mentioned|provide|provided|give|given|tell|told|state|stated)\b/gi,
  },
  {
    signal: 'missing_information',
    language: 'en',
    pattern:
      /\b(?:i|we) (?:should|must|need to|have to|will|could) ask (?:the user|them|him|her|for clarification|which|what|whether|for more)\b/gi,
  },
  {
    signal: 'missing_information',
    language: 'zh',
    pattern:
      /(?:缺少|缺乏|需要|没有)(?:足够|更多|进一步|其他|一些)?的?(?:信息|细节|背景|资料|数据|上下文)|信息不(?:足|够|全)|用户(?:并)?(?:没有?|未)(?:说|提|指定|给出|告诉|明确)|(?:需要|应该|得)(?:先)?(?:问|询问|请)(?:一下)?用户/g,
  },
];

/** What says that a check that was wished for has been made. */
export const checked =
  /\b(?:verified|confirmed|checks? out|double[- ]?checked|(?:is|are|was|that(?:'|’)s|it(?:'|’)s) (?:indeed |all )?(?:correct|right|consistent|fine)|all good|matches)\b|(?:确认|验证|核对|检查)(?:过|完|无误|好)了?|没有?(?:问题|错)|(?:正确|一致)(?:无误)?/i;
