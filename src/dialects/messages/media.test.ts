import { describe, expect, it } from 'vitest';
import type { Source } from '../../ir/items.ts';
import { imageBlockAsText, imageInText, imageTextBlock } from './media.ts';

const PIXEL: Source = { kind: 'base64', mediaType: 'image/png', data: 'iVBORw0KGgo=' };

describe('images that a model made', () => {
  it('go out as Markdown with their bytes or their address', () => {
    const text = '![image](data:image/png;base64,iVBORw0KGgo=)';
    expect(imageTextBlock(PIXEL)).toEqual({ type: 'text', text, citations: [] });
    expect(imageTextBlock({ kind: 'url', url: 'https://a.example/b.png' })).toMatchObject({
      text: '![image](https://a.example/b.png)',
    });
    expect(imageTextBlock({ kind: 'file-id', fileId: 'f' })).toBeUndefined();
  });

  it('are known again by their bytes, and nothing else is taken for one', () => {
    expect(imageInText('![image](data:image/png;base64,iVBORw0KGgo=)')).toEqual(PIXEL);
    for (const text of [
      'See ![image](data:image/png;base64,iVBORw0KGgo=)',
      '![image](data:image/png;base64,iVBORw0KGgo=) there',
      '![image](data:text/html;base64,aGk=)',
      '![image](https://a.example/b.png)',
      '![image](data:image/png;base64,)',
      '![image](data:image/png;base64,iVBORw0KGgo= "title")',
      '![image](data:image/png;base64,iVBORw0KGgo=',
      '![image](data:image/png;base64,a)![image](data:image/png;base64,b)',
    ]) {
      expect(imageInText(text)).toBeUndefined();
    }
  });

  it('that an upstream sends in blocks of its own are text too', () => {
    const source = { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' };
    expect(imageBlockAsText({ type: 'image', source })).toEqual(imageTextBlock(PIXEL));
    expect(imageBlockAsText({ type: 'image' })).toEqual({ type: 'text', text: '', citations: [] });
  });
});
