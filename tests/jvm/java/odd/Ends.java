package odd;

import java.util.function.IntConsumer;

/** The ways to refer to what ends the process. */
public class Ends {

    public static void end(int way) {
        IntConsumer[] ways = {System::exit, Runtime.getRuntime()::exit, Runtime.getRuntime()::halt};
        ways[way].accept(3);
    }
}
