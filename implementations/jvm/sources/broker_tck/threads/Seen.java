package broker_tck.threads;

/** A history: how many schedules had it, and the first that did. */
public final class Seen {

    public final String text;
    public final int[] schedule;
    public int schedules = 1;

    Seen(String text, int[] schedule) {
        this.text = text;
        this.schedule = schedule;
    }
}
