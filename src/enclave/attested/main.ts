// The enclave whose keys are born in it.
import { createDstack } from './dstack.js'
import { createNitroTpm } from './nitroTpm.js'
import { runAttested } from './program.js'

await runAttested('dist/enclave/attested.js', {
  nitrotpm: () => createNitroTpm(),
  dstack: () => createDstack(),
})
