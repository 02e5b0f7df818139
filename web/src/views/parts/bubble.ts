// What is called bubble or idle is of another whole in each view: what each means, in the box that explains numbers. Their values stand where
// they are shown; a value of NaN leaves them out here.
import type { Why } from '../../api/answers'

const word = (id: string, title: string, text: string, formula: string, source: string): Why => ({
  id,
  title,
  value: Number.NaN,
  unit: '',
  text,
  formula,
  inputs: [],
  source,
})

export const BUBBLE_WORDS: readonly Why[] = [
  word(
    'bubble.critical',
    'bubble of the slowest stage',
    'of the whole step',
    'idle time of the stage that the others wait for / step time',
    'What the step loses by its bubble. Other stages are idle for longer: the pipeline view and the balance show their mean, of the pipeline’s duration alone. The whole step also holds data parallel, optimizer and noise, so this share is the smallest.',
  ),
  word(
    'bubble.mean',
    'bubbles, mean over stages',
    'of the pipeline’s duration',
    'mean over stages of (fill + steady + drain) / pipeline',
    'All stages have the same weight, and time in which a message is on its way is not bubble. The calculator’s share is of the slowest stage and of the whole step, so it is the smaller one.',
  ),
  word(
    'bubble.idle',
    'idle, mean over stages',
    'of the pipeline’s duration',
    'mean over stages of (pipeline − busy) / pipeline',
    'All stages have the same weight; what is not a pass is idle, messages on their way too, so it lies a little above the bubbles of the pipeline view.',
  ),
  word(
    'bubble.stage',
    'bubbles of one stage',
    'of the pipeline’s duration',
    '(fill + steady + drain) / pipeline, or the sum of causes where it was measured',
    'From the first pass of any stage to the last. Data parallel and optimizer behind the pipeline are not part of it.',
  ),
]
