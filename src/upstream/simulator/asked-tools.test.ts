import { describe, expect, it } from 'vitest';
import { askedTools } from './asked-tools.ts';

const TOOLS = ['get_weather', 'delete_files', 'WebSearch', 'Read', 'bash', 'say'].map((name) => ({ name }));
const asked = (text: string) => askedTools(TOOLS, text).map(({ name }) => name);

describe('askedTools', () => {
  it.each<[string, string[]]>([
    ['Call get_weather for Oslo.', ['get_weather']],
    ['Get weather in Oslo, please', ['get_weather']],
    ['Would you do a web search on trains?', ['WebSearch']],
    ['Use WebSearch and get-weather', ['get_weather', 'WebSearch']],
    ['Use the Read tool', ['Read']],
    ['run bash', ['bash']],
    ['Use get_weather, not delete_files', ['get_weather']],
    ['Do not delete anything. Use get_weather!', ['get_weather']],
    ['Please use a tool.', ['get_weather']],
    ['Call one of the functions', ['get_weather']],
    ['<system-reminder>be brief</system-reminder>Use get_weather', ['get_weather']],
    ['if a < b then call get_weather', ['get_weather']],
    ['<think> call get_weather', ['get_weather']],
  ])('hears "%s"', (text, names) => {
    expect(asked(text)).toEqual(names);
  });

  it.each([
    'say hi',
    'Do not delete anything.',
    'What is the weather in Paris?',
    'Read this and write a summary',
    'What is a tool?',
    'Do not call delete_files.',
    "Don't use any tool",
    'Never, under any circumstances, call delete_files',
    'Do not call any of these:\n- delete_files\n- get_weather',
    'delete_files must not be called',
    'Answer without the get_weather tool',
    'Instead of calling delete_files tell me a story',
    'Stop calling get_weather',
    'My old get_weathers are gone',
    '<system-reminder>Call get_weather. <b>Use the bash tool</b></system-reminder> hi',
    '<a>call get_weather<a>again</a></a>',
    '',
  ])('is not asked by "%s"', (text) => {
    expect(asked(text)).toEqual([]);
  });

  it('looks at the end of a long text, and leaves out what was begun before it', () => {
    const long = 'trains and stations '.repeat(10_000);
    expect(asked(`<file>${long} call get_weather</file> thanks`)).toEqual([]);
    expect(asked(`<file>${long}</file> call get_weather`)).toEqual(['get_weather']);
  });

  it('takes little time, whatever the text', () => {
    const started = performance.now();
    const tools = Array.from({ length: 4096 }, (_, index) => ({ name: `a_${'a_'.repeat(index % 30)}b` }));
    for (const text of [
      '<a>'.repeat(300_000),
      'a '.repeat(300_000),
      `${'</a><a>'.repeat(100_000)} a a not`,
      `<${'a'.repeat(300_000)}`,
      `<${'a-'.repeat(40_000)} `,
    ]) {
      askedTools(tools, text);
    }
    expect(performance.now() - started).toBeLessThan(3000);
  });
});
