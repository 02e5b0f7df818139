// Stands where the network view will be.
import { Empty } from '../../ui/states'

export default function View() {
  return <Empty title="Network" text="This view is being built." />
}
