// The enclave whose keys are born in it.
import { createNitroTpm } from './nitroTpm.js'
import { runAttested } from './program.js'

await runAttested('dist/enclave/attested.js', { nitrotpm: () => createNitroTpm() })
