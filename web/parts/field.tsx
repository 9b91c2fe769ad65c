import type { ComponentChildren } from 'preact'

interface FieldProps {
  readonly label: string
  /** The id of the control inside. */
  readonly id: string
  readonly hint?: ComponentChildren
  /** The fault of the control's value; it takes the hint's place. */
  readonly error?: string | null
  /** Stands beside the label. */
  readonly aside?: ComponentChildren
  readonly children: ComponentChildren
}

/** The id of a field's hint, for its control's `aria-describedby`: the hint also states errors. */
export const hintId = (id: string) => `${id}-hint`

/** A control with its label and hint. */
export function Field({ label, id, hint, error = null, aside, children }: FieldProps) {
  return (
    <div class="field">
      <div class="field-head">
        <label for={id}>{label}</label>
        {aside}
      </div>
      {children}
      {hint === undefined && error === null ? null : (
        <p class={error === null ? 'hint' : 'hint hint-bad'} id={hintId(id)}>
          {error ?? hint}
        </p>
      )}
    </div>
  )
}
