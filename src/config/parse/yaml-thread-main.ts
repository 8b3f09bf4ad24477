import { answerQuestions } from '../../kit/thread/answer-questions.ts';
import { findPlaces, readYaml } from './read-yaml.ts';
import { piecesOf, type YamlQuestion } from './yaml-thread.ts';

let pieces: Iterator<object, undefined> | undefined;

answerQuestions<YamlQuestion, object | undefined>({
  answer(question) {
    if (question !== 'next') {
      const { text, queries } = question;
      pieces = piecesOf(queries === undefined ? readYaml(text) : findPlaces(text, queries));
    }
    return pieces?.next().value;
  },
});
