import './choice.css'

interface ChoiceProps<T extends string> {
  readonly legend: string
  readonly name: string
  readonly options: readonly (readonly [value: T, label: string])[]
  readonly value: T
  readonly onChange: (value: T) => void
}

/** A choice of a few options, as radio buttons, so that arrow keys move between them. */
export function Choice<T extends string>({ legend, name, options, value, onChange }: ChoiceProps<T>) {
  return (
    <fieldset class="choice">
      <legend>{legend}</legend>
      <div class="choice-row">
        {options.map(([option, label]) => (
          <label key={option} class={option === value ? 'chosen' : ''}>
            <input
              type="radio"
              name={name}
              value={option}
              checked={option === value}
              onChange={() => onChange(option)}
            />
            {label}
          </label>
        ))}
      </div>
    </fieldset>
  )
}
