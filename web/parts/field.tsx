import type { ComponentChildren } from 'preact'

interface FieldProps {
  readonly label: string
  /** Of the control inside. */
  readonly id: string
  readonly hint?: ComponentChildren
  readonly children: ComponentChildren
}

/** Of a field's hint, for the `aria-describedby` of its control: it also says what is wrong. */
export const hintId = (id: string) => `${id}-hint`

/** A control with its label and what helps to fill it in. */
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
