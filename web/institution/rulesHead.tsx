/** The head of a table of rules. */
export function RulesHead({ what }: { what: string }) {
  return (
    <thead>
      <tr>
        <th scope="col">{what}</th>
        <th scope="col">Buys</th>
        <th scope="col">Sells</th>
        <th scope="col" class="wide-only">
          May trade
        </th>
      </tr>
    </thead>
  )
}
