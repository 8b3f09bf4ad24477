import {
  assistant,
  chat,
  messages,
  type RequestChapter,
  responses,
  row,
  says,
  user,
  type Wire,
} from '../request-feature.ts';

const RULE = 'Speak like a pirate.';

/** The roles of a list of turns, one word. */
const roles = (turns: Wire) => turns.map(({ role }: Wire) => role).join(' ');

export const CONVERSATION: RequestChapter = {
  title: 'Conversation',
  features: [
    row({
      title: 'Text',
      asked: { responses: responses('Hello'), messages: messages([user()]), chat: chat([user()]) },
      arrives: {
        responses: (body) => says('Hello')(body.input),
        messages: (body) => body.messages[0].role === 'user' && says('Hello')(body.messages[0]),
        chat: (body) => body.messages[0].role === 'user' && says('Hello')(body.messages[0]),
        gemini: (body) => body.contents[0].role === 'user' && body.contents[0].parts[0].text === 'Hello',
        bedrock: (body) => body.messages[0].role === 'user' && body.messages[0].content[0].text === 'Hello',
      },
    }),
    row({
      title: 'System prompt',
      asked: {
        responses: responses('Hello', { instructions: RULE }),
        messages: messages([user()], { system: RULE }),
        chat: chat([{ role: 'system', content: RULE }, user()]),
      },
      arrives: {
        responses: (body) => body.instructions === RULE,
        messages: (body) => says(RULE)(body.system) && roles(body.messages) === 'user',
        chat: (body) => roles(body.messages) === 'system user' && says(RULE)(body.messages[0]),
        gemini: (body) => body.systemInstruction.parts[0].text === RULE && roles(body.contents) === 'user',
        bedrock: (body) => body.system[0].text === RULE && roles(body.messages) === 'user',
      },
    }),
    row({
      title: 'Developer prompt',
      note: 'Sent as a system prompt to dialects without that role.',
      asked: {
        responses: responses([{ role: 'developer', content: RULE }, user()]),
        chat: chat([{ role: 'developer', content: RULE }, user()]),
      },
      arrives: {
        responses: (body) => roles(body.input) === 'developer user' && says(RULE)(body.input[0]),
        messages: (body) => says(RULE)(body.system) && roles(body.messages) === 'user',
        chat: (body) =>
          /^(developer|system) user$/.test(roles(body.messages)) && says(RULE)(body.messages[0]),
        gemini: (body) => body.systemInstruction.parts[0].text === RULE,
        bedrock: (body) => body.system[0].text === RULE,
      },
      verdicts: {
        messages: '-    -    -    -    -',
        responses: 'kept kept kept kept kept',
        chat: 'kept kept kept kept kept',
      },
    }),
    row({
      title: 'System prompt inside the list',
      note:
        'Anthropic gets the turn as it is, with `clear_at`. If the upstream has no such turn, the prompt stays in its ' +
        'place as user text between `<system>` and `</system>`: so at other providers that speak the messages dialect.',
      asked: {
        responses: responses([
          user('One'),
          assistant('Two'),
          { role: 'system', content: RULE },
          user('Three'),
        ]),
        messages: messages([user('One'), assistant('Two'), { role: 'system', content: RULE }, user('Three')]),
        chat: chat([user('One'), assistant('Two'), { role: 'system', content: RULE }, user('Three')]),
      },
      arrives: {
        responses: (body) => body.input[2].role === 'system' && says(RULE)(body.input[2]),
        messages: (body) => body.messages[2].role === 'system' && says(RULE)(body.messages[2]),
        chat: (body) => body.messages[2].role === 'system' && says(RULE)(body.messages[2]),
        gemini: (body) => body.contents[2].parts.map(({ text }: Wire) => text)[1] === RULE,
        bedrock: (body) => body.messages[2].content.map(({ text }: Wire) => text)[1] === RULE,
      },
      verdicts: {
        messages: 'kept kept kept adapted adapted',
        responses: 'kept kept kept adapted adapted',
        chat: 'kept kept kept adapted adapted',
      },
    }),
    row({
      title: 'Several turns',
      asked: {
        responses: responses([user('One'), assistant('Two'), user('Three')]),
        messages: messages([user('One'), assistant('Two'), user('Three')]),
        chat: chat([user('One'), assistant('Two'), user('Three')]),
      },
      arrives: {
        responses: (body) => roles(body.input) === 'user assistant user' && says('Two')(body.input[1]),
        messages: (body) => roles(body.messages) === 'user assistant user' && says('Two')(body.messages[1]),
        chat: (body) => roles(body.messages) === 'user assistant user' && says('Two')(body.messages[1]),
        gemini: (body) => roles(body.contents) === 'user model user' && says('Two')(body.contents[1]),
        bedrock: (body) => roles(body.messages) === 'user assistant user' && says('Two')(body.messages[1]),
      },
    }),
  ],
};
