// Bundled files, so that every view can be tried without own files. Built from fixtures of the repository (vite.config.ts).
import { openFiles } from '../../ui/drop'
import { toast } from '../../state/toasts'
import list from './examples.json'
import * as texts from '../../words/parts'

export type Home = keyof typeof list

/** Description of an example, for its button. */
export const about = (home: Home): string => list[home].about

/** Opens the example of a view like selected files. */
export async function openExample(home: Home): Promise<void> {
  try {
    const files = await Promise.all(
      list[home].files.map(async (path) => {
        const name = path.split('/').at(-1)!
        const response = await fetch(`./examples/${name}`)
        if (!response.ok) throw new Error(texts.theServerAnsweredFor(response.status, name))
        return new File([await response.blob()], name)
      }),
    )
    await openFiles(files, home)
  } catch (error) {
    toast(error instanceof Error ? error.message : String(error), { kind: 'refused' })
  }
}
