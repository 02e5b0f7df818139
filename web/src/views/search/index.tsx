// Stands where the search view will be.
import { Empty } from '../../ui/states'

export default function View() {
  return <Empty title="Search" text="This view is being built." />
}
