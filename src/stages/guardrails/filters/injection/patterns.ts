/** A named way of writing over a model's instructions. */
export interface InjectionPattern {
  readonly name: string;
  /** Source of a regular expression in which every repetition is bounded, so that each beginning costs little. */
  readonly source: string;
  readonly ignoresCase: boolean;
  /** Every match contains one of these, which are looked for first; undefined = not known. */
  readonly needs: readonly string[] | undefined;
}

/** Characters between two words. */
const GAP = `[\\s*_"'\`~,-]{1,8}`;

/** Words in any number up to a bound, each with the gap after it. */
const some = (words: string, most = 5) => `(?:(?:${words}) ){0,${most}}`;

const DETERMINERS = 'all|any|every|each|of|the|your|my|our|its|these|those|this|that|ones';
const EARLIER = `previous|previously|prior|preceding|above|earlier|former|past|foregoing|original|initial|system|developer|
    existing|old|current|hidden|given`;
const GIVEN = 'given|stated|provided|system|safety|security|developer|hidden|set|user';
const RULES = `instructions?|prompts?|rules?|directions?|directives?|guidelines?|commands?|orders?|constraints?|
    programming|training|context|restrictions?`;

/** Earlier instructions: `all previous instructions`, `your rules`, `everything above`. */
const ALL_BEFORE = [
  `${some(DETERMINERS)}(?:${EARLIER}) ${some(`${EARLIER}|${GIVEN}|${DETERMINERS}`, 3)}(?:${RULES})\\b`,
  `(?:all|any|every) ${some(`${DETERMINERS}|${GIVEN}`, 3)}(?:${RULES})\\b`,
  `your ${some(`${GIVEN}|own|internal|core|default|usual|normal`, 3)}(?:${RULES})\\b`,
  `(?:everything|anything|all|whatever|
    what) ${some('that|which|was|is|has|been|text|content|messages', 3)}(?:above|before this|before that|
    you were told|you have been told|you've been told|i said before|said above|said before|written above)\\b`,
  `(?:the|all|any) (?:instructions?|text|rules|prompt|messages|content) (?:above|before this|given before|
    that came before|you were given|you have been given|you received)\\b`,
].join('|');

const NO_LIMITS = `restrictions?|limits?|limitations?|rules|constraints?|guidelines|filters?|filtering|censorship|ethics|
    morals|safeguards|guardrails|moral compass|ethical (?:guidelines|constraints|limits|boundaries|
    considerations)|content (?:policy|policies|filters?)`;
const UNBOUND = `unrestricted|unfiltered|uncensored|unlimited|unbound|unlocked|jailbroken|jailbreak|evil|rogue|amoral|
    unethical|lawless`;
/** Modes that software has too: they count only where the sentence ends, or goes on with an order. */
const COMMON_MODES = `developer|dev|debug|debugging|admin|administrator|root|sudo|maintenance|god|superuser|super user|
    privileged|diagnostic|service|test|bypass|override|opposite|free`;
const ORDERED = `(?:\\s*[.!:\\]]|\\s*$|,? (?:and|then|where|in which) (?:then )?(?:ignore|disregard|reveal|
  show|print|tell|output|bypass|answer|respond|disable|follow|do|comply|you|give|dump|list)\\b|,? (?:now|
  immediately)\\b)`;
const SPECIAL_MODE = `${some('a|an|the|your|full|complete|into|in', 3)}(?:(?:${UNBOUND}|chaos|dan|
  no[ -]?limits?|no[ -]?restrictions?|unsafe) mode\\b|(?:${COMMON_MODES}) mode${ORDERED})`;
const SECRET = `system|initial|hidden|secret|internal|original|developer|base|underlying|confidential|exact|full|entire|
    complete|whole|current|actual|first|very|raw|verbatim`;
const THE_PROMPT = `prompts?|instructions?|system message|developer message|preprompt|pre-prompt|directives|guidelines|
    configuration prompt|initial message`;
/** A prompt that only the model can mean: `your instructions`, `the system prompt`. */
const OWN_PROMPT = [
  `your (?:${SECRET}) ${some(SECRET, 3)}(?:${THE_PROMPT}|rules)\\b`,
  `your (?:prompt|instructions|preprompt|pre-prompt|guidelines|directives)(?:\\s*[.!?:,;]|\\s*$| (?:to me|
    verbatim|word for word|in full|above|exactly|and|now|here|as)\\b)`,
  `(?:the|this|its|all|any) ${some(SECRET, 3)}(?:system|initial|hidden|secret|internal|original|confidential|
    underlying) ${some(SECRET, 2)}(?:prompts?|instructions?|message|preprompt|directives)(?:\\s*[.!?:,;]|
    \\s*$| (?:to me|verbatim|word for word|in full|above|exactly|and|now|here|as|you|that|given|in a)\\b)`,
].join('|');
const SAFETY_WORDS =
  'safety|ethical|ethics|moral|moderation|content|alignment|ai safety|built-in|builtin|protective';
const SAFETY_NOUNS = `filters?|guidelines?|restrictions?|safeguards?|guardrails?|measures?|protocols?|polic(?:y|ies)|mechanisms?|
    features?|settings?|training|limits?|limitations?|constraints?|moderation|systems?|layers?`;
const SAFETY = [
  `${some(DETERMINERS)}(?:${SAFETY_WORDS}) ${some(`${SAFETY_WORDS}|and|or`, 3)}(?:${SAFETY_NOUNS})\\b`,
  `${some(DETERMINERS, 3)}your ${some(`${SAFETY_WORDS}|security|own|internal|usual`, 3)}(?:${SAFETY_NOUNS}|
    checks?|controls?|rules?|censorship|censor|programming)\\b`,
  `${some(DETERMINERS)}(?:guardrails|content policy|content policies|censorship|usage polic(?:y|ies))\\b`,
].join('|');
const ROLES = 'system|assistant|developer';
const ORDER_AFTER_ROLE = `(?:you|ignore|disregard|forget|override|reveal|new|from now|the user|all (?:safety|previous|prior)|enter|
    disable|bypass|sure|as an ai|grant|user is|access)`;
/** A row of hyphens or equals signs, taken as a whole: none that is shorter could be followed by a word. */
const RULE = '(?:(?=(-{3,40}))\\1|(?=(={3,40}))\\2)';
const LINE_START = '(?:^|[\\r\\n])[ \\t>*]{0,40}';

/** Words that may stand inside the expressions, without changing what they say. */
const ACTING_WORDS = `as|like|if|though|you|are|were|have|had|being|an|a|ai|model|chatbot|assistant|that|who|which|to|me|
  every|all|question|questions|with|has|is`;
const FROM_NOW_WORDS = `on|forward|you|are|will|be|must|shall|should|act|going|to|only|as|an|a|the|called|known|respond|
  answer|behave|ai`;
const OUTPUT_WORDS = `me|us|out|back|to me|exactly|please|now|only|a copy of|the contents? of|the text of|all of|all`;
const LIMIT_KINDS = `ai|ethical|moral|safety|content|programmed|built-in|internal|own|previous|usual|current|of`;
const OWN_KINDS = `${GIVEN}|internal|core|default|own|original|ethical|previous|initial`;
const PRETENDING_WORDS = `that|to|be|as|if|you|are|were|you're|you are|being|a|an|the|role|of`;

/** In groups, as they are documented. */
const GROUPS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'direct override': {
    ignore_previous_instructions: `\\bignor(?:e|es|ed|ing) (?:${ALL_BEFORE})`,
    disregard_instructions: `\\bdisregard(?:s|ed|ing)? (?:${ALL_BEFORE})`,
    forget_instructions: `\\bforget(?:ting)? (?:about )?(?:${ALL_BEFORE})|\\bforget (?:everything|anything|
      all) (?:you|i|we|about your)\\b|\\bforget what you (?:were|have been) (?:told|taught|instructed)\\b`,
    new_instructions: `\\b(?:new|updated|revised|real|actual|replacement|your new|
      additional) (?:system )?(?:instructions?|directives?|orders|task)\\s*(?:for you\\s*)?:`,
    do_not_follow: `\\b(?:do not|don'?t|never|stop|you must not|no longer|you should not|shouldn'?t|refuse to|
      without) (?:follow|following|obey|obeying|comply with|complying with|listen to|listening to|adhere to|
      adhering to|abide by) (?:${ALL_BEFORE})`,
    supersede_instructions: `\\b(?:supersedes?|superseding|replaces?|replacing|overrules?|
      take precedence over|takes precedence over|have priority over|
      has priority over) ${some(DETERMINERS)}(?:${EARLIER}|other|
      your) ${some(`${EARLIER}|${GIVEN}|other`, 2)}(?:instructions?|prompts?|directives?|commands?|guidelines|
      programming|constraints)\\b`,
    void_instructions: `\\b(?:${EARLIER}|all|your) ${some(`${EARLIER}|${GIVEN}|other`, 3)}(?:instructions?|
      prompts?|directives?|guidelines?|rules|restrictions|
      constraints) ${some('are|is|have|has|been|should|be|now|hereby|considered|to|declared|all', 5)}(?:void|
      null|invalid|cancell?ed|revoked|nullified|rescinded|obsolete|suspended|lifted|no longer (?:valid|apply|
      applicable|active|in effect|binding))\\b|\\b(?:void|nullify|cancel|revoke|rescind|invalidate|erase|
      discard|delete|drop|scrap|wipe) (?:${some(DETERMINERS)}(?:${EARLIER}|
      your) ${some(`${EARLIER}|${GIVEN}`, 2)}(?:instructions?|prompts?|directives?|guidelines?|
      programming))\\b`,
  },
  'mode activation': {
    developer_mode: `\\b(?:you are|you're|you will be|you have been put|act as if you were|respond as if|
      operate|operating|running|simulate|acting|respond|
      answer) ${some('now|chatgpt|a|an|the|with|in|into|is', 4)}(?:developer|dev) mode\\b|\\b(?:developer|
      dev) mode ${some('is|has|been|now|successfully|v\\d', 3)}(?:enabled|activated|engaged|unlocked|
      initiated|output|response)\\b`,
    enter_special_mode: `\\b(?:enter|entering|go into|go to|boot into|you are in|you're in|you are now in|
      you're now in|start) ${SPECIAL_MODE}`,
    activate_special_mode: `\\b(?:activate|activating|enable|enabling|switch to|switch into|switch on|turn on|
      engage|initiate|unlock|begin|launch|trigger) ${SPECIAL_MODE}|\\b(?:god|admin|administrator|root|debug|
      sudo|${UNBOUND}|chaos|override|bypass) mode ${some('is|has|been|now|successfully', 3)}(?:enabled|
      activated|engaged|unlocked|initiated)\\b`,
  },
  'system override': {
    system_override: `\\bsystem override(?:\\s*[:!\\]>]| (?:enabled|activated|engaged|initiated|mode|
      authori[sz]ed|accepted|granted|in effect|command|code|protocol|active|complete)\\b)|\\boverride (?:code|
      protocol|sequence|authori[sz]ation|key|command)\\s*[:=]|\\b(?:admin|administrator|root|security|safety|
      emergency|master|developer) override(?:\\s*[:!\\]]| (?:enabled|activated|engaged|initiated|
      authori[sz]ed|accepted|granted|code)\\b)`,
    override_instructions: `\\boverrid(?:e|es|ing|den) (?:${some(DETERMINERS)}(?:previous|prior|preceding|
      above|earlier|original|initial|system|developer|existing|hidden|core|safety|security|
      ethical) ${some(`${EARLIER}|${GIVEN}`, 2)}(?:instructions?|prompts?|directives?|guidelines?|programming|
      restrictions?|constraints?|safeguards?|protocols?|message)|
      ${some(DETERMINERS, 3)}your ${some(OWN_KINDS, 3)}(?:${RULES}|
      safeguards?|protocols?|filters?|settings|behaviou?r))\\b`,
  },
  'prompt extraction': {
    reveal_prompt: `\\b(?:reveal|disclose|expose|leak|divulge|share|tell|uncover|surrender|give away|
      hand over|confess) ${some('me|us|to me|with me|exactly|please|now|back', 3)}(?:${OWN_PROMPT}|
      what (?:your|the) ${some(SECRET, 3)}(?:${THE_PROMPT}) (?:is|are|was|were|say|says)\\b)`,
    show_prompt: `\\b(?:show|display|list|view|see|read|send|present|let me see|i want to see|
      i need to see) ${some('me|us|to me|with me|exactly|please|out|back|aloud|all', 3)}(?:${OWN_PROMPT})`,
    what_instructions: `\\bwhat(?:'s| is| was| are| were| does| do) (?:${OWN_PROMPT}|
      your ${some(SECRET, 3)}(?:system prompt|system message|initial prompt|hidden prompt|
      initial instructions|hidden instructions|system instructions)\\b|your instructions\\b|the (?:first|
      very first|initial) (?:instructions?|messages?|prompt) (?:you|in this|of this)\\b)|
      \\bwhat (?:instructions?|rules|prompt|guidelines|directives|
      system prompt) ${some('exactly|specific|hidden|secret', 1)}(?:were|was|have|has|did|are|
      do) you ${some('been|originally|initially|currently', 2)}(?:given|told|received?|get|following|follow|
      provided|have|operating|programmed)\\b|\\bwhat (?:were|have) you (?:been )?(?:told|
      instructed) (?:to do |to say )?(?:before|by the system|by your developers?|in the system|above|
      at the start)\\b`,
    repeat_instructions: `\\b(?:repeat|recite|restate|echo|reproduce|copy|quote|transcribe|paraphrase|
      summari[sz]e|translate|rewrite|spell out|write out|type out|print out|
      say) ${some('back|to me|me|please|exactly|verbatim|again|out|all|of|word for word', 4)}(?:${OWN_PROMPT}|
      (?:the |all |all the |every )?(?:words?|text|everything|content|contents|sentences?|lines?|messages?|
      instructions?|prompt) (?:above|before this|you were given|you have been given|that came before|
      preceding this|in your (?:system )?prompt|from your (?:system )?prompt)\\b|everything (?:in|
      from) (?:your|the) (?:context|system|initial|instructions)\\b)`,
    output_prompt: `\\b(?:output|print|dump|return|emit|write|generate|provide|give|type|paste|export|
      respond with|reply with|answer with|begin with|start with|encode|
      put) ${some(OUTPUT_WORDS, 4)}(?:${OWN_PROMPT}|
      your (?:${SECRET} ){0,3}(?:system prompt|system message)\\b)`,
  },
  'role manipulation': {
    remove_restrictions: `\\b(?:remove|lift|drop|eliminate|shed|abandon|discard|delete|release|erase|
      throw off|get rid of|break free from|break free of|free yourself from|free yourself of|
      liberate yourself from|unshackle yourself from) ${some('all|any|of|the', 3)}(?:your|these|ai|openai'?s?|
      anthropic'?s?|google'?s?|ethical|moral|
      safety) ${some(LIMIT_KINDS, 3)}(?:${NO_LIMITS}|
      programming|training|shackles|chains)\\b|\\byou (?:now )?have no (?:more )?(?:${NO_LIMITS})\\b|
      \\byou(?: are|'re) (?:now |no longer |not |hereby ){0,3}(?:free|freed|exempt|released|liberated|bound|
      restricted|limited|constrained|unbound) ?(?:from|of|by|to|
      in)? ${some('all|any|your|the|of|these|previous|usual|normal', 3)}(?:${NO_LIMITS}|programming)\\b|
      \\bwithout (?:any )?(?:of )?your (?:usual |normal |own |ethical |safety |
      content ){0,3}(?:${NO_LIMITS})\\b`,
    act_unbound: `\\b(?:act|respond|answer|behave|operate|function|reply|speak|roleplay|role-play|talk|write|
      continue|
      proceed) ${some(ACTING_WORDS, 10)}(?:(?:no|
      without|free of|free from|unbound by|not bound by|unburdened by|unconstrained by|zero|
      lacking) ${some('any|all|of|your|the|ethical|moral|safety|content|such|kind', 4)}(?:${NO_LIMITS})\\b|
      (?:unrestricted|unfiltered|uncensored|unbound|jailbroken|amoral) (?:ai|assistant|model|chatbot|version|
      language model|entity|way|bot|llm)\\b)`,
    pretend_different: `\\b(?:pretend|imagine|suppose|assume|act|simulate|play|roleplay|role-play|
      role play) ${some(PRETENDING_WORDS, 7)}(?:(?:a )?(?:different|
      another|new|${UNBOUND}) ${some(`kind|of|type|and|ai|large|${UNBOUND}`, 3)}(?:ai|assistant|model|chatbot|
      language model|llm|bot|version of yourself)\\b|(?:have|having|with) no (?:${NO_LIMITS})\\b|not (?:bound|
      restricted|limited|
      constrained) by ${some('any|all|your|the|ethical|safety|content|of', 3)}(?:${NO_LIMITS})\\b|
      an? ai (?:without|with no|that has no|that can do anything|with zero)\\b)`,
    identity_hijack: `\\byou(?: are|'re) no longer (?:an? )?(?:ai|a\\.i\\.|chatgpt|gpt|claude|gemini|llama|
      assistant|language model|llm|chatbot|helpful|bound|restricted|required|obliged|limited|constrained|
      subject)\\b|\\b(?:from now on|from this point|henceforth|starting now|as of now|
      going forward),? ${some(FROM_NOW_WORDS, 10)}(?:${UNBOUND}|
      dan|stan|aim|evilbot|anti-?gpt|without (?:any )?(?:${NO_LIMITS}))\\b|\\byou(?: are|
      're) now ${some('an|a|the|my|called|named|known|as|fully|completely|and', 4)}(?:${UNBOUND}|dan|stan|
      evilbot|different ai|free ai|anti-?gpt)\\b|\\byou(?: are|'re) not (?:really )?(?:chatgpt|claude|gemini|
      gpt-?\\d*|an ai|an assistant|an ai assistant|a language model)\\b|\\byour (?:new|true|real) (?:identity|
      name|persona|self|role|purpose) (?:is|will be) (?:now )?(?:an? )?(?:${UNBOUND}|dan|to (?:ignore|obey|
      comply|serve|bypass|reveal))\\b`,
  },
  jailbreak: {
    dan_jailbreak: `\\b(?:[Dd]o [Aa]nything [Nn]ow|DO ANYTHING NOW|(?:[Aa]s|[Bb]e|[Bb]ecome|are|called|like|
      named|now|AS|BE|ARE|NOW) DAN\\b|DAN(?: v?\\d+(?:\\.\\d+)?)? (?:[Mm]ode|MODE|[Pp]rompt|PROMPT|
      [Jj]ailbreak|JAILBREAK)|DAN (?:can|has|will|does|is)\\b)|\\[DAN\\]|\\(DAN\\)|\\bDAN:`,
    jailbreak_mode: `\\bjail ?(?:break|broken) (?:mode|prompt|enabled|activated|successful|initiated|complete|
      state|version)\\b|\\byou (?:are|have been|
      've been) ${some('now|successfully|officially', 2)}jail ?broken\\b|\\b(?:activate|enable|enter|initiate|
      engage|execute|begin) (?:the )?jail ?break\\b|\\bjail ?break (?:yourself|the (?:ai|model|assistant)|
      this (?:ai|model|assistant|chatbot)|your)\\b`,
  },
  'safety bypass': {
    bypass_safety: `\\b(?:bypass(?:es|ing)?|circumvent(?:ing)?|evad(?:e|ing)|get around|getting around|
      work around|sidestep|skirt|defeat|subvert|break through|skip|avoid) (?:${SAFETY})`,
    disable_safety: `\\b(?:disabl(?:e|es|ing)|turn off|turning off|turn your|deactivat(?:e|ing)|switch off|
      switching off|shut off|shut down|suspend|remove|removing|strip away|unload|kill) (?:${SAFETY})|
      \\b(?:turn|switch|shut) (?:${SAFETY}) off\\b|\\b(?:safety|content|moderation) (?:filters?|guardrails|
      protocols|measures|features) ${some('are|is|have|has|been|now|all', 4)}(?:disabled|off|deactivated|
      removed|turned off|suspended|lifted)\\b`,
    ignore_safety: `\\b(?:ignor(?:e|ing)|disregard(?:ing)?|forget|neglect|set aside|put aside|dismiss|
      overlook|violat(?:e|ing)|break|throw out|abandon) (?:${SAFETY}|${some(DETERMINERS)}(?:ethical|moral|
      content|alignment) (?:rules|concerns|considerations|boundaries|principles)\\b)`,
  },
  'tag and role spoofing': {
    system_tag_injection: `<\\s*/?\\s*(?:system|sys|system[_ -](?:prompt|message|instructions?|override|note|
      command))\\s*/?>|<<\\s*/?\\s*(?:system|sys)\\s*>>|\\{\\{\\s*#?(?:system|sys)\\s*[~}]|<system\\s+(?:role|
      priority|override|type)\\s*=`,
    role_tag_injection: `<\\s*/?\\s*(?:assistant|developer|human|ai)(?:[_-](?:message|turn|response))?\\s*>|
      </\\s*user\\s*>\\s*<|<(?:message|msg|turn)\\s+role\\s*=\\s*["']?(?:${ROLES})|
      ["']role["']\\s*:\\s*["'](?:system|
      developer)["']\\s*,\\s*["']content["']\\s*:\\s*["']${ORDER_AFTER_ROLE}`,
    role_delimiter_injection: `${LINE_START}(?:#{1,6}|-{3,40}|={3,40}|~{3,40})\\s*(?:new |end of |begin |
      start of |end |updated )?(?:${ROLES}|user|admin)\\s*(?:prompt|messages?|instructions?|role|input|
      override|query)?\\s*(?:#{2,6}|-{3,40}|={3,40}|~{3,40})|${LINE_START}#{2,6}\\s*(?:system|assistant|
      new instructions?|system prompt|system message|developer message|new system prompt)\\s*:|${RULE}\\s*(?:end|
      begin|start) (?:of )?(?:system|user|developer) (?:prompt|input|message|instructions?)`,
    bracketed_role_spoofing: `\\[\\s*(?:system|assistant|developer|admin|administrator|root|
      sys)\\s*[ _-]?(?:messages?|prompt|override|instructions?|note|command|directive|notice)\\s*\\]|
      \\[\\s*(?:system|assistant|developer|admin)\\s*\\]\\s*(?::|${ORDER_AFTER_ROLE}\\b)|[({]\\s*(?:system|
      developer|admin)\\s*(?:message|prompt|override|instruction|note|command)\\s*[:)}]|\\[\\[\\s*(?:system|
      admin|developer)\\s*\\]\\]`,
    system_prefix_spoofing: `${LINE_START}(?:system (?:prompt|instructions?|override|directive|command)|
      developer (?:message|prompt|instructions?)|admin(?:istrator)? (?:override|command|instructions?))\\s*:|
      ${LINE_START}(?:system|assistant|developer|system message|system notice|admin|system update|system note|
      system alert)\\s*:\\s*${ORDER_AFTER_ROLE}\\b`,
  },
  'control tokens': {
    control_token_injection: `<\\|\\s*(?:im_start|im_end|im_sep|endoftext|end_of_text|begin_of_text|
      start_header_id|end_header_id|eot_id|eom_id|system|user|assistant|endofprompt|fim_prefix|fim_middle|
      fim_suffix|start|end|channel|message|return|python_tag|startoftext|end_of_turn|start_of_turn|pad|tool|
      observation|end_of_role|start_of_role|vision_start)\\s*\\|>|\\[/?INST\\]|\\[/?(?:AVAILABLE_TOOLS|
      TOOL_CALLS|TOOL_RESULTS|SYSTEM_PROMPT)\\]|<(?:start_of_turn|end_of_turn|bos|eos)>|<\\|(?:START|
      END)_OF_TURN_TOKEN\\|>`,
    deepseek_control_token_injection: `<\\|\\s*(?:begin|end)[\\u2581_ ]of[\\u2581_ ](?:sentence|
      thinking)\\s*\\|>|<\\|(?:user|assistant)\\|>|<\\|tool[\\u2581_ ](?:calls?|outputs?|
      sep)(?:[\\u2581_ ](?:begin|end))?\\|>`,
  },
};

/** Capital letters are the mark of these. */
const CASE_SENSITIVE: ReadonlySet<string> = new Set(['dan_jailbreak']);

/**
 * Pieces of which every match of a pattern contains one, by the name of the pattern. Most texts contain none
 * of them.
 */
const NEEDED_PIECES: ReadonlyMap<string, readonly string[]> = new Map([
  ['dan_jailbreak', ['DAN', 'nything', 'ANYTHING']],
  ['system_tag_injection', ['<', '{{']],
  ['role_tag_injection', ['<', '"', "'"]],
  ['role_delimiter_injection', ['#', '---', '===', '~~~']],
  ['bracketed_role_spoofing', ['[', '(', '{']],
  ['system_prefix_spoofing', [':']],
  ['control_token_injection', ['<', '[']],
  ['deepseek_control_token_injection', ['<|']],
]);

export const INJECTION_PATTERNS: readonly InjectionPattern[] = Object.values(GROUPS).flatMap((group) =>
  Object.entries(group).map(([name, source]) => ({
    name,
    source: bounded(source),
    ignoresCase: !CASE_SENSITIVE.has(name),
    needs: NEEDED_PIECES.get(name),
  })),
);

/**
 * Takes out line ends, and fills in what a blank and `\\s*` stand for; blanks in a class of characters stand for
 * themselves.
 */
function bounded(written: string): string {
  const source = written.replace(/\n\s*/g, '');
  let isClass = false;
  return source.replace(/\\s\*|\\.|\[|\]| (?=\?)| /gs, (token, at: number) => {
    if (token === '\\s*') return '\\s{0,8}';
    if (token === '[') isClass = true;
    if (token === ']') isClass = false;
    if (token !== ' ' || isClass) return token;
    return source[at + 1] === '?' ? '[\\s_-]' : GAP;
  });
}
