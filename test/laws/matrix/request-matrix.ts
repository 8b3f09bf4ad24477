import type { RequestChapter } from './request-feature.ts';
import { BAD_INPUT } from './requests/bad-input.ts';
import { CONVERSATION } from './requests/conversation.ts';
import { MEDIA } from './requests/media.ts';
import { ANSWER_SHAPE, CACHING, OTHER_SETTINGS, THINKING } from './requests/settings.ts';
import { TOOLS_CHAPTER } from './requests/tools.ts';

/** What requests may ask for: the table behind the tests and the page. */
export const REQUEST_MATRIX: readonly RequestChapter[] = [
  CONVERSATION,
  MEDIA,
  TOOLS_CHAPTER,
  ANSWER_SHAPE,
  THINKING,
  CACHING,
  OTHER_SETTINGS,
  BAD_INPUT,
];
