import { expect, it } from 'vitest'
import { inputOf, root, vectors } from '../attestation/vectors.js'
import { openVerifier } from './support/verifier.js'

it('a browser judges every vector of attestation as Node does', async () => {
  await using cleanUp = new AsyncDisposableStack()
  const judgeAll = await openVerifier(cleanUp)
  const judged = await judgeAll(
    vectors.map((vector) => ({ root: vector.root ?? root, origin: vector.origin, ...inputOf(vector) })),
  )
  const ended = judged.map(({ outcome, code }, index) => ({ name: vectors[index]?.name, outcome, code }))
  expect(ended).toEqual(vectors.map(({ name, outcome, code }) => ({ name, outcome, code })))
})
