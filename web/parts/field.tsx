import type { ComponentChildren } from 'preact'

interface FieldProps {
  readonly label: string
  /** The id of the control inside. */
  readonly id: string
  readonly hint?: ComponentChildren
  readonly children: ComponentChildren
}

/** The id of a field's hint, for its control's `aria-describedby`: the hint also states errors. */
export const hintId = (id: string) => `${id}-hint`

/** A control with its label and hint. */
export function Field({ label, id, hint, children }: FieldProps) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children}
      {hint === undefined ? null : (
        <p class="hint" id={hintId(id)}>
          {hint}
        </p>
      )}
    </div>
  )
}
