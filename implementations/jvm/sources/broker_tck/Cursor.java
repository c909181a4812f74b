package broker_tck;

import org.apache.bookkeeper.mledger.ManagedCursor;

/** A cursor that has a name, may be durable, and is compared by identity: containers ask for nothing else. */
public class Cursor implements ManagedCursor {

    public final String name;
    public final boolean durable;
    /** By which the kit knows it. */
    public final int number;

    public Cursor(String name, boolean durable, int number) {
        this.name = name;
        this.durable = durable;
        this.number = number;
    }

    @Override
    public String getName() {
        return name;
    }

    @Override
    public boolean isDurable() {
        return durable;
    }
}
