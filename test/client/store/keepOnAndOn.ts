// A process that keeps orders, each again and again, until it is killed. It tells the first of each.
import { createFileOrderStore } from '../../../src/client/store/index.js'
import { keptOrderOf } from './keptOrderOf.js'

const [, , directory = ''] = process.argv
const store = createFileOrderStore(directory)
const TIMES = 5
for (let number = 0; ; number++) {
  for (let time = 0; time < TIMES; time++) await store.keep(keptOrderOf(number))
  process.stdout.write(`${number}\n`)
}
