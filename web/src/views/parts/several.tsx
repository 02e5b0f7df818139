// Several names of a list as one parameter of the URL, added and removed one by one. Responsible for: chosen and offered names. The program
// checks names.
import * as texts from '../../words/parts'

interface Props {
  readonly title: string
  readonly about?: string
  /** Names with commas. */
  readonly value: string
  /** Offered names with their titles. */
  readonly options: readonly (readonly [string, string])[]
  /** True to allow other names, such as the path of a file. */
  readonly free?: boolean
  /** Default, shown if no name is chosen. */
  readonly placeholder: string
  readonly onChange: (value: string | undefined) => void
}

export function Several({ title, about, value, options, free = false, placeholder, onChange }: Props) {
  const chosen = value.split(',').filter(Boolean)
  const set = (next: readonly string[]) => onChange(next.length > 0 ? next.join(',') : undefined)
  const add = (name: string) => {
    if (name && !chosen.includes(name)) set([...chosen, name])
  }
  const open = options.filter(([name]) => !chosen.includes(name))
  const list = `several-${title.replaceAll(/\W+/g, '-')}`
  const hint = chosen.length > 0 ? texts.addAnother : placeholder
  return (
    <div class="narrow" role="group" aria-label={title} title={about}>
      <label class="entry">
        <span>{title}</span>
        {free ? (
          <input
            class="input"
            key={value}
            placeholder={hint}
            list={list}
            spellcheck={false}
            autocomplete="off"
            onChange={(event) => add(event.currentTarget.value.trim())}
            onKeyDown={(event) => {
              if (event.key !== 'Enter') return
              // Enter adds the name instead of starting the search.
              event.preventDefault()
              add(event.currentTarget.value.trim())
            }}
          />
        ) : (
          <select
            class="select"
            value=""
            onChange={(event) => {
              const name = event.currentTarget.value
              event.currentTarget.value = ''
              add(name)
            }}
          >
            <option value="">{hint}</option>
            {open.map(([name, shown]) => (
              <option key={name} value={name}>
                {shown}
              </option>
            ))}
          </select>
        )}
      </label>
      {free && (
        <datalist id={list}>
          {open.map(([name]) => (
            <option key={name} value={name} />
          ))}
        </datalist>
      )}
      {chosen.length > 0 && (
        <div class="narrow-row">
          {chosen.map((name) => (
            <button
              key={name}
              type="button"
              class="pick"
              aria-pressed="true"
              aria-label={texts.removeSetting(name)}
              onClick={() => set(chosen.filter((one) => one !== name))}
            >
              {options.find(([one]) => one === name)?.[1] ?? name} ✕
            </button>
          ))}
        </div>
      )}
    </div>
  )
}
