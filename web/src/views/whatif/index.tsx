// Stands where the whatif view will be.
import { Empty } from '../../ui/states'

export default function View() {
  return <Empty title="What-if" text="This view is being built." />
}
